"""How memcached servers are read: address, connection, replies, translation, server, fleet."""
