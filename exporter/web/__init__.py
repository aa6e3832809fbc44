"""How clients are served: HTTP server, routes, content negotiation, pages for people."""
