"""The reply to `stats extstore`: one entry per page of the external storage, exported in sums."""

from exporter.catalogue.row import Omission, Section, gauge

STORAGE_PAGES = Section(
    name="extstore",
    command="stats extstore",
    rows=(
        gauge(
            "bucket",
            "memcached_extstore_bucket_pages",
            "Pages of the external storage by bucket (a group of items that are kept together) and"
            " whether they hold data or are free.",
            since="1.5.4",
            dynamic=("bucket", "state"),
        ),
        gauge(
            "bytes",
            "memcached_extstore_bucket_bytes",
            "Bytes of live items on the pages of a bucket of the external storage.",
            since="1.5.4",
            dynamic=("bucket",),
        ),
    ),
    omissions=(
        Omission("version", "0 marks a free page, which becomes the label state."),
        Omission("free_bucket", "The bucket of a free page, which becomes the label bucket."),
    ),
)
