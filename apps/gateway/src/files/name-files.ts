// The client's request for a new file: its name, its content type, and the expected hash of its bytes.

import { toHex, withPrefix } from '@svc/protocol/bytes'
import { filenameProblem } from '@svc/protocol/filename'
import { type InvalidInput, type ServiceError, ValidationError } from '@svc/service/service-error'
import type { Context } from '../context.ts'
import type { FileRow, Locker } from '../db/schema.ts'
import { fileNotFound } from './errors.ts'
import { DEFAULT_MEDIA_TYPE, mediaTypeProblem } from './media-type.ts'

interface RequestedFile {
  filename?: string
  content_type?: string
  expected_hash?: string
}

export interface NamedFile {
  filename: string
  contentType: string
  expectedHash: string | null
}

const MAX_PROBLEMS = 20

/** Fills in defaults. Throws one error that lists the faults of all files. */
export function nameFiles(
  context: Context,
  requested: readonly RequestedFile[],
  locOf: (index: number) => InvalidInput['loc'],
): NamedFile[] {
  const names = new Set<string>()
  const problems = requested.flatMap((file, i) => {
    const isRepeated = file.filename !== undefined && names.size === names.add(file.filename).size
    const repeated = isRepeated ? [{ loc: [...locOf(i), 'filename'], msg: 'occurs more than once in the request' }] : []
    return [...problemsOf(context, file, locOf(i)), ...repeated]
  })
  const [first, ...rest] = problems.slice(0, MAX_PROBLEMS)
  if (first) throw new ValidationError(first, ...rest)
  return requested.map(({ filename, content_type, expected_hash }) => ({
    filename: filename ?? generatedName(context),
    contentType: content_type ?? DEFAULT_MEDIA_TYPE,
    expectedHash: expected_hash === undefined ? null : readExpectedHash(expected_hash),
  }))
}

export function generatedName({ randomBytes }: Pick<Context, 'randomBytes'>): string {
  return `file_${toHex(randomBytes(8))}`
}

/** Requires a complete folder name: `photos` would also open `photos-private/`. Null for a valid one. */
export function folderProblem({ config }: Context, prefix: string): string | null {
  return prefix.endsWith('/') ? filenameProblem(prefix.slice(0, -1), config.storage.systemPrefix) : "must end with '/'"
}

function problemsOf({ config }: Context, file: RequestedFile, loc: InvalidInput['loc']): InvalidInput[] {
  const { filename, content_type, expected_hash } = file
  const nameProblem = filename === undefined ? null : filenameProblem(filename, config.storage.systemPrefix)
  const typeProblem = content_type === undefined ? null : mediaTypeProblem(content_type)
  const isHashBad = expected_hash !== undefined && readExpectedHash(expected_hash) === null
  return [
    ...(nameProblem === null ? [] : [{ loc: [...loc, 'filename'], msg: nameProblem }]),
    ...(typeProblem === null ? [] : [{ loc: [...loc, 'content_type'], msg: typeProblem }]),
    ...(isHashBad ? [{ loc: [...loc, 'expected_hash'], msg: HASH_PROBLEM }] : []),
  ]
}

export const HASH_PROBLEM = "must be a SHA-256: 64 hex characters, with or without 'sha256:' before them"

/** With its prefix and in lower case; null for text that is not a SHA-256 (FILE-23). */
export function readExpectedHash(text: string): string | null {
  const [, hex] = /^(?:sha256:)?([0-9a-f]{64})$/i.exec(text) ?? []
  return hex === undefined ? null : withPrefix(hex.toLowerCase())
}

/**
 * The error for a name that is not in the locker. Only missing names are checked against the rules: a stored name stays
 * readable after the rules change.
 */
export function noSuchFile({ config }: Context, filename: string): ServiceError {
  const msg = filenameProblem(filename, config.storage.systemPrefix)
  return msg === null ? fileNotFound(filename) : new ValidationError({ loc: ['path', 'filename'], msg })
}

/** An entry that waits for its bytes. */
export function newFile({ locker_id }: Locker, { filename, contentType, expectedHash }: NamedFile): FileRow {
  return {
    locker_id,
    filename,
    content_type: contentType,
    expected_hash: expectedHash,
    object_id: null,
    provider_ref: null,
    object_bytes: null,
    size_bytes: null,
    content_hash: null,
    uploaded_at: null,
    hash_recorded_at: null,
    upload_content_type: contentType,
    upload_expected_hash: expectedHash,
    upload_object_id: null,
    metadata: null,
  }
}
