"""Open files of the whole host."""

from exporter.catalogue.row import Section, gauge

FILES = Section(
    name="files",
    command="/proc/sys/fs/file-nr",
    rows=(
        gauge(
            "allocated",
            "memcached_host_open_files",
            "Files and sockets that are open on the whole host.",
        ),
        gauge(
            "max",
            "memcached_host_open_files_max",
            "Files and sockets that may be open on the whole host (fs.file-max).",
            note="Practically without limit under systemd. What binds memcached is its own limit,"
            " `memcached_process_max_fds`.",
        ),
    ),
)
