"""Asks the server with the protocol's own client library: PROGRAM FOLDER. Prints one line per answer."""

import asyncio
import json
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

CALLS = [
    ("check", {}),
    ("why", {"node": "run.migrate", "field": "spec.command.1", "environment": "production"}),
    ("diff", {"environment": "local", "to_environment": "production"}),
    ("why", {"node": "run.none"}),
]


async def main(program, folder):
    server = StdioServerParameters(command=program, args=["-C", folder, "mcp"])
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        tools = await session.list_tools()
        print("tools", " ".join(tool.name for tool in tools.tools))
        for name, arguments in CALLS:
            result = (await session.call_tool(name, arguments)).model_dump(by_alias=True, mode="json")
            answer = json.loads(result["content"][0]["text"])
            print(name, result["isError"], answer["exitCode"])
        resources = await session.list_resources()
        print("resources", len(resources.resources))


asyncio.run(main(*sys.argv[1:]))
