"""A relay with many ports, each with a delay of its own on the way back, as a program on the lab's server abroad.

    delaying.py ADDRESS FIRST-PORT SERVER PORT < JSON      JSON: the delays of the ports in milliseconds; "ready" when it listens
"""

import asyncio
import json
import sys


async def back(reader, writer, delay):
    """Passes on what comes back, each piece `delay` seconds after it came, in order."""
    clock = asyncio.get_running_loop().time
    queue = asyncio.Queue()

    async def deliver():
        while True:
            due, data = await queue.get()
            await asyncio.sleep(max(0, due - clock()))
            if not data:
                return
            writer.write(data)
            await writer.drain()

    async def collect():
        while True:
            data = await reader.read(65536)
            queue.put_nowait((clock() + delay, data))
            if not data:
                return

    await asyncio.gather(deliver(), collect())


async def forth(reader, writer):
    """Passes on what goes there at once."""
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()


async def main(address, first_port, server, port):
    delays = json.load(sys.stdin)

    def handler(delay):
        async def handle(reader, writer):
            try:
                there_reader, there_writer = await asyncio.open_connection(server, port)
            except OSError:
                return writer.close()
            ways = [asyncio.ensure_future(forth(reader, there_writer)),
                    asyncio.ensure_future(back(there_reader, writer, delay / 1000))]
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            writer.close()
            there_writer.close()
        return handle

    for number, delay in enumerate(delays):
        await asyncio.start_server(handler(delay), address, first_port + number, backlog=64)
    print("ready", flush=True)
    await asyncio.Event().wait()


asyncio.run(main(sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])))
