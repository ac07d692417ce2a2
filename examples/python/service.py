"""A service over three nodes: seats of a theatre, each sold once.

    pip install python-thingsdb
    ALTHING_NODES=127.0.0.1:9240,127.0.0.1:9241,127.0.0.1:9242 ALTHING_TOKEN=... PORT=8080 python service.py

It speaks the native protocol by ThingsDB's own client, which goes to another node when a connection is lost. That client does not
name its requests, so the service makes each sale safe to repeat by itself: a sale has a key, which the database keeps with the seat.
"""
import asyncio
import json
import os
import signal
from pathlib import Path

from thingsdb.client import Client
from thingsdb.exceptions import LookupError as NoSuchThing
from thingsdb.room import Room, event

SCOPE = '//theatre'
SCHEMA = Path(__file__).parent.parent / 'schema.ti'

# A sale by its key: the same key gives the same answer, so it may be sent again when a connection broke.
SELL = """
    if (!.has('keys')) .keys = {};
    if (!.keys.has(key)) .keys.set(key, run('sell', name, buyer));
    .keys.get(key);
"""

watchers: set[asyncio.StreamWriter] = set()


class Sales(Room):
    """Tells all who watch of each seat that is sold, by whichever program."""

    def on_join(self) -> None:
        # After a connection was lost, sales may have been missed: who watches reads the free seats again.
        tell('gap', None)

    @event('sold')
    def on_sold(self, seat: str) -> None:
        tell('sold', seat)


def tell(name: str, data: object) -> None:
    for writer in watchers:
        writer.write(f'event: {name}\ndata: {json.dumps(data)}\n\n'.encode())


async def prepare(client: Client) -> None:
    """Makes the collection, its types and procedures, where they are not there yet."""
    await client.query("if (!has_collection('theatre')) new_collection('theatre'); nil;", scope='@thingsdb')
    await client.query(SCHEMA.read_text(), scope=SCOPE)


async def sell(client: Client, seat: str, buyer: str, key: str) -> tuple[int, object]:
    try:
        is_sold = await client.query(SELL, scope=SCOPE, key=key, name=seat, buyer=buyer)
    except NoSuchThing as error:
        return 404, {'error': str(error)}
    return (201 if is_sold else 409), {'seat': seat, 'isSold': is_sold}


async def handle(client: Client, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    head = (await reader.readuntil(b'\r\n\r\n')).decode()
    method, path, _ = head.split(' ', 2)
    headers = dict(line.lower().split(': ', 1) for line in head.split('\r\n')[1:] if ': ' in line)
    body = (await reader.readexactly(int(headers.get('content-length', 0)))).decode()
    if method == 'GET' and path == '/events':
        writer.write(b'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n: welcome\n\n')
        watchers.add(writer)
        await reader.read()
        watchers.discard(writer)
        return
    status, answer = 404, {'error': 'no such page'}
    if method == 'GET' and path == '/seats':
        status, answer = 200, await client.run('free_seats', scope=SCOPE)
    elif method == 'POST' and path.startswith('/seats/'):
        seat = path.removeprefix('/seats/')
        status, answer = await sell(client, seat, body, headers.get('idempotency-key', os.urandom(16).hex()))
    text = json.dumps(answer).encode()
    writer.write(f'HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {len(text)}\r\n\r\n'.encode() + text)
    await writer.drain()
    writer.close()


async def main() -> None:
    nodes = [place.rsplit(':', 1) for place in os.environ.get('ALTHING_NODES', '127.0.0.1:9200').split(',')]
    client = Client()
    await client.connect_pool([(host, int(port)) for host, port in nodes], os.environ['ALTHING_TOKEN'])
    await prepare(client)
    sales = Sales(".sales.id();", scope=SCOPE)
    await sales.join(client)
    port = int(os.environ.get('PORT', '8080'))
    server = await asyncio.start_server(lambda reader, writer: handle(client, reader, writer), '127.0.0.1', port)
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    print('ready', flush=True)
    await stop.wait()
    server.close()
    client.close()
    await client.wait_closed()


if __name__ == '__main__':
    asyncio.run(main())
