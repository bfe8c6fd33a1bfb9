import type { Writable } from 'node:stream'

/** Resolves when the bytes are on their way, however slowly they are taken; rejects where nobody takes them. */
export function written(stream: Writable, chunk: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(chunk, (error) => (error ? reject(error) : resolve()))
  })
}
