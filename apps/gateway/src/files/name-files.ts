import type { InvalidInput } from '@svc/http-service/service-error'
import { toHex } from '@svc/protocol/bytes'
import type { Context } from '../context.ts'
import { invalidUpload } from './errors.ts'
import { readExpectedHash } from './expected-hash.ts'
import { filenameObjection } from './filename.ts'
import { DEFAULT_MEDIA_TYPE, mediaTypeProblem } from './media-type.ts'

interface AskedFile {
  filename?: string
  content_type?: string
  expected_hash?: string
}

export interface NamedFile {
  filename: string
  contentType: string
  expectedHash: string | null
}

const MAX_OBJECTIONS = 20

/** Files as they are asked for, with what was left out; throws what is wrong with any of them. */
export function nameFiles(
  context: Context,
  asked: readonly AskedFile[],
  locOf: (index: number) => InvalidInput['loc'],
): NamedFile[] {
  const names = new Set<string>()
  const objections = asked.flatMap((file, i) => {
    const isTwice = file.filename !== undefined && names.size === names.add(file.filename).size
    const twice = isTwice ? [{ loc: [...locOf(i), 'filename'], msg: 'is named before in the same request' }] : []
    return [...fileObjections(context, file, locOf(i)), ...twice]
  })
  const [first, ...rest] = objections.slice(0, MAX_OBJECTIONS)
  if (first) throw invalidUpload(first, ...rest)
  return asked.map(({ filename, content_type, expected_hash }) => ({
    filename: filename ?? `file_${toHex(context.randomBytes(8))}`,
    contentType: content_type ?? DEFAULT_MEDIA_TYPE,
    expectedHash: expected_hash === undefined ? null : readExpectedHash(expected_hash),
  }))
}

function fileObjections(context: Context, file: AskedFile, loc: InvalidInput['loc']): InvalidInput[] {
  const { filename, content_type, expected_hash } = file
  const name = filename === undefined ? null : filenameObjection(context, filename, [...loc, 'filename'])
  const typeProblem = content_type === undefined ? null : mediaTypeProblem(content_type)
  const isHashBad = expected_hash !== undefined && readExpectedHash(expected_hash) === null
  return [
    ...(name ? [name] : []),
    ...(typeProblem === null ? [] : [{ loc: [...loc, 'content_type'], msg: typeProblem }]),
    ...(isHashBad ? [{ loc: [...loc, 'expected_hash'], msg: HASH_PROBLEM }] : []),
  ]
}

const HASH_PROBLEM = "must be a SHA-256: 64 hex characters, with or without 'sha256:' before them"
