// Upload-Metadata: keys with base64-encoded values. The file's name, type and hash come from it. The header is stored
// as sent, because HEAD returns it.

import { fromUtf8 } from '@svc/protocol/bytes'
import { badHeader } from './errors.ts'

const NAME = 'Upload-Metadata'
const MAX_CHARS = 4096
const MAX_PAIRS = 32

interface FileMetadata {
  filename?: string
  content_type?: string
  expected_hash?: string
}

export function readMetadata(header: string | null): FileMetadata {
  const pairs = new Map<string, string>()
  for (const [key, value] of pairsOf(header)) {
    if (pairs.has(key)) throw badHeader(NAME, `has '${key}' twice`)
    pairs.set(key, value)
  }
  const given = (key: string) => pairs.get(key) || undefined
  // Some clients send unknown values as an empty string or as the text "null"; but "null" is a valid file name.
  const known = (key: string) => (given(key) === 'null' ? undefined : given(key))
  // Browsers write the path of a dropped file with a leading slash.
  const filename = known('relativePath')?.replace(/^\//, '') || (given('filename') ?? given('name'))
  const content_type = known('content_type') ?? known('filetype') ?? known('type')
  const expected_hash = known('expected_hash')
  return {
    ...(filename !== undefined && { filename }),
    ...(content_type !== undefined && { content_type }),
    ...(expected_hash !== undefined && { expected_hash }),
  }
}

function pairsOf(header: string | null): [string, string][] {
  if (header === null || header.trim() === '') return []
  if (header.length > MAX_CHARS) throw badHeader(NAME, `may have ${MAX_CHARS} characters`)
  const pairs = header.split(',')
  if (pairs.length > MAX_PAIRS) throw badHeader(NAME, `may have ${MAX_PAIRS} keys`)
  return pairs.map((pair) => {
    const [, key, encoded = ''] = /^\s*([\x21-\x2b\x2d-\x7e]{1,100})(?: ([A-Za-z0-9+/]*={0,2}))?\s*$/.exec(pair) ?? []
    const value = key === undefined ? null : fromUtf8(Buffer.from(encoded, 'base64'))
    if (key === undefined || value === null)
      throw badHeader(NAME, 'must be keys, each with a base64 value of UTF-8 text')
    return [key, value]
  })
}
