"""Drives an MCP endpoint with FastMCP, another SDK for Python.

Standard input: {"url", "headers", "calls": [{"name", "arguments"}]}.
Standard output: {"tools", "results"}.
"""

import asyncio
import json
import sys

from fastmcp import Client
from fastmcp.client.transports import StreamableHttpTransport


async def drive(plan):
    transport = StreamableHttpTransport(plan["url"], headers=plan["headers"])
    async with Client(transport) as client:
        tools = await client.list_tools()
        results = []
        for call in plan["calls"]:
            result = await client.call_tool_mcp(call["name"], call["arguments"])
            results.append(result.model_dump(mode="json", by_alias=True, exclude_unset=True))
        return {"tools": [tool.name for tool in tools], "results": results}


print(json.dumps(asyncio.run(drive(json.load(sys.stdin)))))
