// Run by a test as a separate process: opens connections, sends a part of a head on each, and prints when all are open.

import { connect } from 'node:net'

const [port, count] = process.argv.slice(2).map(Number) as [number, number]
/** The largest queue of a listening socket. */
const AT_ONCE = 200

let opened = 0

function open(): void {
  const socket = connect(port, '127.0.0.1', () => {
    socket.write('GET / HT')
    opened++
    if (opened + AT_ONCE <= count) open()
    if (opened === count) console.log('open')
  })
  socket.on('error', () => {})
  socket.resume()
}

for (let i = 0; i < Math.min(AT_ONCE, count); i++) open()
