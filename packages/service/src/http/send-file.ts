// Sends a file through one buffer, which is reused for each piece and then for other files. Streams allocate a chunk
// for each piece, and a fast transfer creates such garbage faster than it is collected.

import type { ServerResponse } from 'node:http'
import type { FileStream } from './byte-streams.ts'

/** Half of this takes a third more processor time. Twice as much saves little, and a slow client occupies a buffer. */
const BUFFER_BYTES = 512 * 1024
const MAX_FREE_BUFFERS = 16

type Done = (error?: Error | null) => void

/** Works like `pipeline` from a stream to a response. */
export type SendFile = (stream: Required<FileStream>, response: ServerResponse) => Promise<void>

export function createSendFile(): SendFile {
  const free: Buffer[] = []
  return async (stream, response) => {
    // Read errors are thrown; this handles a failed close, which must not end the process.
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
  // The connection's event, because a response that waits for earlier ones does not notice when it closes.
  const { socket } = response.req
  let settle: Done = () => {}
  // Pending writes may never call back then, and none continues.
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
      // Called when the operating system has all of it.
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
