// Decrypts downloads and files. Readers receive only verified bytes, and an error if the rest is missing.

import { concat } from '@svc/protocol/bytes'
import { DecryptionError } from '../errors.ts'
import { type Download, streamOf } from '../files/download.ts'
import { chunksOf, memorySource } from '../files/source.ts'
import { damaged } from './damaged.ts'
import { type Header, isAgeFile, parseHeader, requireMac, SNIFFED_BYTES } from './header.ts'
import type { EncryptionKey } from './keys.ts'
import { decryptPayload, NONCE_BYTES } from './payload.ts'
import { SCRYPT } from './recipients.ts'

/** The stanza of a recipient takes about a hundred bytes. */
const MAX_HEADER_BYTES = 256 * 1024

/** The plaintext of an age file. Rejects before the first byte if no key fits. */
export async function decrypted(
  ciphertext: AsyncIterable<Uint8Array>,
  keys: readonly Pick<EncryptionKey, 'unwrap'>[],
): Promise<AsyncGenerator<Uint8Array>> {
  const input = bufferedReader(ciphertext)
  try {
    const header = await readHeader(input)
    const fileKey = await unwrapped(header, keys)
    requireMac(header, fileKey)
    await input.take(header.length)
    return decryptPayload(fileKey, await input.take(NONCE_BYTES), input.rest())
  } catch (error) {
    // As with damaged content, the source may have a better error at its end.
    if (error instanceof DecryptionError && error.code === 'damaged') for await (const _ of input.rest());
    await input.close()
    throw error
  }
}

async function readHeader(input: BufferedReader): Promise<Header> {
  for (let wanted = 1024; wanted <= MAX_HEADER_BYTES; wanted *= 2) {
    const beginning = await input.peek(wanted)
    const header = parseHeader(beginning)
    if (header) return header
    if (beginning.length < wanted) throw damaged('it ends in its header')
  }
  throw damaged('its header is too long')
}

async function unwrapped({ stanzas }: Header, keys: readonly Pick<EncryptionKey, 'unwrap'>[]): Promise<Uint8Array> {
  const isLocked = stanzas.some(({ args }) => args[0] === SCRYPT)
  if (isLocked && stanzas.length > 1) throw damaged('it has a passphrase and other recipients')
  for (const key of keys) {
    const fileKey = await key.unwrap(stanzas)
    if (fileKey) return fileKey
  }
  throw new DecryptionError(
    'wrong_key',
    isLocked
      ? 'it is encrypted with a passphrase, and none of the given ones is correct'
      : 'it is encrypted for another key',
  )
}

/** A download whose first bytes have been inspected. */
export interface SniffedDownload extends Download {
  /** Whether the bytes are an age file, regardless of the name. */
  isEncrypted: boolean
}

export async function sniffed(download: Download): Promise<SniffedDownload> {
  const input = bufferedReader(chunksOf(download.stream))
  const isEncrypted = isAgeFile(await input.peek(SNIFFED_BYTES))
  const { stream, bytes } = readable(input.rest(), input.close)
  return {
    ...download,
    stream,
    bytes,
    isEncrypted,
    async resume(kept) {
      await stream.cancel().catch(() => {})
      return download.resume(kept)
    },
  }
}

/** The plaintext of a download. Its hash is that of the ciphertext, which is also verified. */
export async function decryptedDownload(download: Download, keys: readonly EncryptionKey[]): Promise<Download> {
  const ciphertext = chunksOf(download.stream)
  const { stream, bytes } = readable(await decrypted(ciphertext, keys), () => ciphertext.return(undefined))
  return {
    ...download,
    size: null,
    stream,
    bytes,
    start: 0,
    // The ciphertext is verified from its first byte, so saved plaintext does not help.
    async resume() {
      await stream.cancel().catch(() => {})
      return decryptedDownload(await download.resume(memorySource(new Uint8Array())), keys)
    },
  }
}

function readable(chunks: AsyncGenerator<Uint8Array>, closeSource: () => Promise<unknown>) {
  const stream = streamOf(chunks, closeSource)
  return { stream, bytes: async () => new Uint8Array(await new Response(stream).arrayBuffer()) }
}

interface BufferedReader {
  /** The next bytes, without consuming them. Fewer only at the end. */
  peek(length: number): Promise<Uint8Array>
  take(length: number): Promise<Uint8Array>
  rest(): AsyncGenerator<Uint8Array>
  close(): Promise<void>
}

function bufferedReader(chunks: AsyncIterable<Uint8Array>): BufferedReader {
  const iterator = chunks[Symbol.asyncIterator]()
  let buffer = new Uint8Array()

  async function peek(length: number): Promise<Uint8Array> {
    while (buffer.length < length) {
      const { done, value } = await iterator.next()
      if (done) break
      buffer = concat(buffer, value) as Uint8Array<ArrayBuffer>
    }
    return buffer.subarray(0, length)
  }

  const close = async () => void (await iterator.return?.())

  return {
    peek,
    async take(length) {
      const taken = await peek(length)
      buffer = buffer.subarray(taken.length)
      return taken
    },
    async *rest() {
      try {
        if (buffer.length > 0) yield buffer
        for (;;) {
          const { done, value } = await iterator.next()
          if (done) return
          yield value
        }
      } finally {
        await close()
      }
    },
    close,
  }
}
