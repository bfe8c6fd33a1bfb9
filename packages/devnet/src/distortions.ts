// For tests: distortions of an honest HTTP answer in transit. Each one writes to the connection itself, so that it can
// send what no HTTP server would.

import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import { gzipSync } from 'node:zlib'

export interface WireAnswer {
  status: number
  headers: Record<string, string>
  body: Buffer
}

/** `last` is the answer before this one. */
export type Distortion = (socket: Socket, honest: WireAnswer, last: WireAnswer | null) => void

/** Short enough that no timeout between two bytes expires. */
const DRIP_MS = 20
const ZEROS = Buffer.alloc(1_048_576)
/** Unpacks to a thousand times its length. Any number of them in a row is one valid gzip body. */
const PACKED_ZEROS = gzipSync(ZEROS)

/** Answers that never end: only a timeout of the client ends them. */
export const STALLS: Readonly<Record<string, Distortion>> = {
  'never answers': () => {},
  'never finishes its headers': (socket) => drip(socket, 'HTTP/1.1 200 OK\r\nx-more: ', 'x'),
  'sends a byte now and then': (socket) => drip(socket, head(200, { 'content-length': '1000000' }), ' '),
  'announces more than it sends': (socket, { status, headers, body }) =>
    socket.write(Buffer.concat([head(status, { ...headers, 'content-length': `${body.length + 1000}` }), body])),
}

/** Endless answers, sent as fast as the client reads. */
export const FLOODS: Readonly<Record<string, Distortion>> = {
  'answers without end': (socket) => flood(socket, head(200, JSON_TYPE), ZEROS),
  'answers a bomb': (socket) => flood(socket, head(200, { ...JSON_TYPE, 'content-encoding': 'gzip' }), PACKED_ZEROS),
  'sends endless headers': (socket) => flood(socket, 'HTTP/1.1 200 OK\r\n', `x-more: ${'x'.repeat(1000)}\r\n`),
}

/** Answers that end, and are wrong. */
export const FALSEHOODS: Readonly<Record<string, Distortion>> = {
  'hangs up': (socket) => socket.destroy(),
  'breaks off in the middle': (socket, { status, headers, body }) => {
    const whole = head(status, { ...headers, 'content-length': `${body.length}` })
    socket.write(Buffer.concat([whole, half(body)]), () => socket.destroy())
  },
  'sends half of its answer': (socket, answer) => send(socket, { ...answer, body: half(answer.body) }),
  'announces less than it sends': (socket, { status, headers, body }) =>
    socket.end(Buffer.concat([head(status, { ...headers, 'content-length': `${half(body).length}` }), body])),
  'answers nothing': (socket, answer) => send(socket, { ...answer, body: Buffer.alloc(0) }),
  'answers null': (socket, answer) => send(socket, { ...answer, body: Buffer.from('null') }),
  'answers noise': (socket, answer) => send(socket, { ...answer, body: randomBytes(1000) }),
  'answers with a web page': (socket) =>
    send(socket, { status: 200, headers: { 'content-type': 'text/html' }, body: Buffer.from('<html>welcome</html>') }),
  'claims to be compressed': (socket, { headers, ...answer }) =>
    send(socket, { ...answer, headers: { ...headers, 'content-encoding': 'gzip' } }),
  'redirects to itself': (socket) => send(socket, { status: 307, headers: { location: '/' }, body: Buffer.alloc(0) }),
  'redirects to nowhere': (socket) =>
    send(socket, { status: 308, headers: { location: 'http://127.0.0.1:1/' }, body: Buffer.alloc(0) }),
  'answers 500': (socket, answer) => send(socket, { ...answer, status: 500 }),
  'answers 204': (socket) => void socket.end('HTTP/1.1 204 No Content\r\n\r\n'),
  'answers an error with 200': (socket) =>
    send(socket, { status: 200, headers: JSON_TYPE, body: Buffer.from('{"error":{"code":-1,"message":"no"}}') }),
  'repeats its last answer': (socket, honest, last) => send(socket, last ?? honest),
}

export const DISTORTIONS: Readonly<Record<string, Distortion>> = { ...STALLS, ...FLOODS, ...FALSEHOODS }

const JSON_TYPE = { 'content-type': 'application/json' }

function head(status: number, headers: Record<string, string>): Buffer {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.from(`HTTP/1.1 ${status} Any\r\n${lines.join('')}\r\n`, 'latin1')
}

function send(socket: Socket, { status, headers, body }: WireAnswer): void {
  socket.end(Buffer.concat([head(status, { ...headers, 'content-length': `${body.length}` }), body]))
}

function half(body: Buffer): Buffer {
  return body.subarray(0, body.length >> 1)
}

function drip(socket: Socket, beginning: Buffer | string, drop: string): void {
  socket.write(beginning)
  const timer = setInterval(() => socket.write(drop), DRIP_MS)
  socket.once('close', () => clearInterval(timer))
}

/** Until the client hangs up. */
function flood(socket: Socket, beginning: Buffer | string, wave: Buffer | string): void {
  socket.write(beginning)
  const more = () => {
    while (!socket.destroyed && socket.write(wave));
    if (!socket.destroyed) socket.once('drain', more)
  }
  more()
}
