"""The reply to `stats extstore`: one entry per page of the external storage, exported in sums."""

from exporter.catalogue.row import Omission, Section, gauge

STORAGE_PAGES = Section(
    name="extstore",
    command="stats extstore",
    rows=(
        gauge(
            "bucket",
            "memcached_extstore_bucket_pages",
            "Pages of the external storage that hold data, by bucket (a group of items that are"
            " kept together).",
            since="1.5.4",
            dynamic=("bucket",),
            note="As of the server's last look at its pages, which it takes when it needs a new"
            " one. Free pages are in memcached_extstore_pages_free.",
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
        Omission("version", "0 marks a page that is free or being written; no metric by itself."),
        Omission("free_bucket", "Where a free page came from, which says nothing about now."),
    ),
)
