// Sends a file through one buffer, which is used again for each piece and then for other files. Streams allocate a chunk
// for each piece, and a fast transfer makes such garbage faster than it is collected.

import type { ServerResponse } from 'node:http'
import type { FileStream } from './byte-streams.ts'

/** Half of this takes a third more processor time. Twice as much saves little, and a slow client holds one of them. */
const BUFFER_BYTES = 512 * 1024
const MAX_FREE_BUFFERS = 16

type Done = (error?: Error | null) => void

/** As `pipeline` from a stream to a response. */
export type SendFile = (stream: Required<FileStream>, response: ServerResponse) => Promise<void>

export function createSendFile(): SendFile {
  const free: Buffer[] = []
  return async (stream, response) => {
    // What goes wrong with reading is thrown; this is a file that cannot be closed, which must not end the process.
    stream.on('error', () => {})
    const buffer = free.pop() ?? Buffer.allocUnsafeSlow(BUFFER_BYTES)
    try {
      await sendThrough(buffer, stream, response)
    } finally {
      stream.destroy()
      if (free.length < MAX_FREE_BUFFERS) free.push(buffer)
    }
  }
}

/** When it settles, neither a read nor a write uses the buffer any more. */
async function sendThrough(buffer: Buffer, stream: Required<FileStream>, response: ServerResponse): Promise<void> {
  // Of the connection, since a response that waits for earlier ones does not notice when it closes.
  const { socket } = response.req
  let settle: Done = () => {}
  // No write is certain to be called back then, and none goes on.
  const onClose = () => settle(clientGone())
  const sent = (send: (done: Done) => void) =>
    new Promise<void>((resolve, reject) => {
      settle = (error) => (error ? reject(clientGone()) : resolve())
      if (socket.destroyed) onClose()
      else send(settle)
    })

  socket.once('close', onClose)
  try {
    for (let length = await stream.readInto(buffer); length > 0; length = await stream.readInto(buffer)) {
      // Called back when the operating system has all of it.
      await sent((done) => response.write(buffer.subarray(0, length), done))
    }
    await sent((done) => response.end(done))
  } catch (error) {
    // The status has been sent, so closing the connection early is the only way to report the error.
    response.destroy()
    throw error
  } finally {
    socket.off('close', onClose)
  }
}

function clientGone(): Error {
  return Object.assign(new Error('the client has closed the connection'), { code: 'ERR_STREAM_PREMATURE_CLOSE' })
}
