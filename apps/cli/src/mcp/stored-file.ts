// Files of lockers that are small enough for a conversation: as text, and as MCP resources.

import type { ResourceLink } from '@modelcontextprotocol/sdk/types.js'
import { readAtMost, TooManyBytes } from '@svc/protocol/read-at-most'
import { contentTypeOf, lockerOf } from '@svc/sdk'
import { type Context, requireOwner } from './context.ts'
import { Refusal } from './errors.ts'

/** The largest file that fits into a conversation. */
export const MAX_TEXT_BYTES = 256 * 1024

export interface FileName {
  receipt_id: string
  filename: string
}

export interface StoredBytes {
  bytes: Uint8Array
  contentType: string
  contentHash: string | null
}

/** All bytes of a file, checked against the recorded hash. */
export async function readStored(context: Context, name: FileName, signal: AbortSignal): Promise<StoredBytes> {
  requireOwner(context)
  const { receipt_id, filename } = name
  const { size, stream, contentType, contentHash } = await context.client.get(lockerOf(receipt_id), filename, {
    signal,
  })
  if (size !== null && size > MAX_TEXT_BYTES) {
    await stream.cancel()
    throw tooLarge(filename, size)
  }
  const bytes = await readAtMost(MAX_TEXT_BYTES, stream).catch((error) => {
    throw error instanceof TooManyBytes ? tooLarge(filename, size) : error
  })
  return { bytes, contentType, contentHash }
}

/** Null if the bytes are not UTF-8. */
export function textOf(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return null
  }
}

function tooLarge(filename: string, size: number | null): Refusal {
  const bytes = size === null ? 'more' : `${size} bytes`
  return new Refusal(
    'file_too_large',
    `${JSON.stringify(filename)} has ${bytes}; at most ${MAX_TEXT_BYTES} can be read here`,
    'Share or open the address that `get_link` returns',
  )
}

const URI = /^svc:\/\/lockers\/(rcpt_[0-9a-f]{32})\/(.+)$/

export const FILE_URI_TEMPLATE = 'svc://lockers/{receipt_id}/{+filename}'

function fileUri({ receipt_id, filename }: FileName): string {
  return `svc://lockers/${receipt_id}/${filename.split('/').map(encodeURIComponent).join('/')}`
}

/** Null if it is not the address of a file. */
export function fileOfUri(uri: string): FileName | null {
  const [, receipt_id, path] = URI.exec(uri) ?? []
  if (!receipt_id || !path) return null
  try {
    return { receipt_id, filename: decodeURIComponent(path) }
  } catch {
    return null
  }
}

export function fileLink(name: FileName): ResourceLink {
  const { filename } = name
  return { type: 'resource_link', uri: fileUri(name), name: filename, mimeType: contentTypeOf(filename) }
}
