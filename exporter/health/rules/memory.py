"""Memory: a full cache is normal, losing items that are of use is not."""

from exporter.health.rules.shape import Alert, Group, Severity

MEMORY = Group(
    "memcached-memory",
    (
        Alert(
            name="MemcachedMemoryHigh",
            severity=Severity.WARNING,
            expr="server:memcached_memory_used:ratio{$selector} > ${memory}",
            wait="30m",
            summary="The memory of a memcached server is nearly full.",
            description="Items take {{ $value | humanizePercentage }} of the memory of memcached on"
            " ${who}. That is normal for a cache that evicts, and harmless as long as what it"
            " evicts is of no use.",
        ),
        Alert(
            name="MemcachedEvictingUsedItems",
            severity=Severity.WARNING,
            expr="""
server:memcached_memory_used:ratio{$selector} > ${memory}
and
(
    server:memcached_items_evicted_useful:ratio_rate15m{$selector} > ${evictions.useful}
  or
    count without (slab) (
      memcached_slab_items_evicted_time_seconds{$selector} < ${evictions.young}
      and
      increase(memcached_slab_items_evicted_total{$selector}[15m]) > 0
    )
)
""",
            wait="10m",
            summary="A full memcached server evicts items that are still of use.",
            description="memcached on ${who} is {{ $value | humanizePercentage }} full and evicts"
            " items that were used a short time ago, or that nobody had read yet: it has too"
            " little memory for what it is to hold.",
        ),
        Alert(
            name="MemcachedEvictionsHigh",
            severity=Severity.WARNING,
            expr="increase(memcached_items_evicted_total{$selector}[1h]) > ${evictions.per_hour}",
            wait="5m",
            summary="A memcached server evicts many items.",
            description="memcached on ${who} evicted {{ $value | humanize }} items in the last"
            " hour, more than ${evictions.per_hour|plain}.",
        ),
        Alert(
            name="MemcachedEvictionsPerSetHigh",
            severity=Severity.WARNING,
            expr="""
server:memcached_items_evicted_per_set:ratio_rate5m{$selector} > ${evictions.per_set}
and
server:memcached_sets:rate5m{$selector} > ${evictions.floor}
""",
            wait="15m",
            summary="A memcached server evicts a large share of what it stores.",
            description="memcached on ${who} evicts {{ $value | humanizePercentage }} as many items"
            " as it stores, more than ${evictions.per_set|percent}.",
        ),
        # The count per class is older than the one of the server.
        Alert(
            name="MemcachedOutOfMemory",
            severity=Severity.CRITICAL,
            expr="""
increase(memcached_item_no_memory_total{$selector}[5m]) > 0
or
sum without (slab) (increase(memcached_slab_items_outofmemory_total{$selector}[5m])) > 0
""",
            wait="2m",
            summary="A memcached server cannot store items, for want of memory.",
            description="memcached on ${who} refused {{ $value | humanize }} stores in the last"
            " five minutes, as it found no memory for them and could evict nothing.",
        ),
        Alert(
            name="MemcachedSlabCalcified",
            severity=Severity.WARNING,
            expr="""
server:memcached_slab_pages_idle:ratio{$selector} > ${evictions.idle_pages}
and
sum without (slab) (increase(memcached_slab_items_evicted_total{$selector}[15m])) > 0
""",
            wait="10m",
            summary="A memcached server evicts from one slab class while others have free memory.",
            description="memcached on ${who} evicts items, while"
            " {{ $value | humanizePercentage }} of its memory pages lie idle in other slab classes"
            " or in the pool.",
            board="memcached-slabs",
        ),
        Alert(
            name="MemcachedHashExpansionSlow",
            severity=Severity.WARNING,
            expr="last_over_time(memcached_hash_is_expanding{$selector}[5m]) == 1",
            wait="${hash_expansion}",
            summary="The hash table of a memcached server does not finish growing.",
            description="memcached on ${who} has been moving its hash table to a larger one for"
            " more than ${hash_expansion}; until it is done, both take memory.",
        ),
        Alert(
            name="MemcachedAllocationsFailing",
            severity=Severity.WARNING,
            expr="""
increase(memcached_malloc_fails_total{$selector}[5m]) > 0
or
increase(memcached_read_buffer_oom_total{$selector}[5m]) > 0
or
increase(memcached_response_object_oom_total{$selector}[5m]) > 0
""",
            wait="2m",
            summary="A memcached server gets no memory for its connections.",
            description="memcached on ${who} failed {{ $value | humanize }} times in the last five"
            " minutes to get memory for a connection, a buffer or a response, and closed"
            " connections for it.",
        ),
    ),
)
