"""A real MCP server of some tools, over its standard streams or, with `http PORT`, over HTTP. Who sells stands in SHOP_SELLER."""

import os
import socket
import sys

from mcp.server.mcpserver import MCPServer

server = MCPServer("shop")
GOODS = {"hat": 30, "boots": 80, "saddle": 450}


@server.tool()
def find(query: str) -> str:
    """The names of goods that hold a word, in order."""
    return ", ".join(sorted(name for name in GOODS if query.lower() in name))


@server.tool()
def price(item: str) -> dict[str, int]:
    """What something costs."""
    if item not in GOODS:
        raise ValueError(f"there is no {item}")
    return {"cents": GOODS[item] * 100}


@server.tool()
def quote(item: str) -> dict[str, str | int]:
    """Who sells something, and for how many base units."""
    return {"seller": os.environ["SHOP_SELLER"], "price": price(item)["cents"]}


@server.tool()
def order(item: str, payment: str) -> str:
    """Takes an order that was paid."""
    return f"order of 1 {item}, paid by {payment[:8]}"


@server.tool()
def connect(port: int) -> bool:
    """Whether a port of this computer can be reached."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["http"]:
        # It says nothing once it listens: who starts it asks the port.
        print("ready:", sys.argv[2], flush=True)
        server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[2]))
    else:
        server.run("stdio")
