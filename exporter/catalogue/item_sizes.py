"""The reply to `stats sizes`, from a server that tracks the sizes of its items."""

from exporter.catalogue.row import Kind, Omission, Row, Section

ITEM_SIZES = Section(
    name="sizes",
    command="stats sizes",
    rows=(
        Row(
            key="*",
            name="memcached_item_size_bytes",
            kind=Kind.GAUGE_HISTOGRAM,
            help="Stored items by their size in bytes, key and header included.",
            since="1.4.27",
            dynamic=("le",),
            note="Only from a server started with `-o track_sizes`. A distribution of the present:"
            " apply histogram_quantile to it without rate. No sum, as memcached sends none."
            " Items above the item size limit that was set when `track_sizes` was read are in no"
            " bucket: give `-I` before it.",
        ),
    ),
    omissions=(
        Omission("sizes_status", "`disabled`, or the answer to a switch that is never thrown."),
        Omission("sizes_error", "The answer to a switch that is never thrown."),
    ),
)
