import { bare, isHex } from '@svc/protocol/bytes'

/** A file of a record, with what else its entry in the manifest may have had. */
export interface ExportedFile {
  filename: string
  size_bytes: number
  /** With or without its prefix. */
  content_hash: string
  content_type?: string | null
}

const ATTESTED = ['filename', 'size_bytes', 'content_hash', 'content_type']
const NOT_ATTESTED = ['uploaded_at', 'hash_recorded_at', 'provider', 'provider_ref']
const FIELDS = new Set([...ATTESTED, ...NOT_ATTESTED])

/** Merkle rules 6 and 9; and no name twice, of which a reader could choose one (T-21). */
export function filesProblem(files: unknown): string | null {
  if (!Array.isArray(files) || files.length === 0) return 'must be a list with at least one file'
  const names = new Set<string>()
  for (const [i, file] of files.entries()) {
    const problem = fileProblem(file)
    if (problem) return `file ${i + 1} ${problem}`
    if (names.has(file.filename)) return `file ${i + 1} has the name of one before it`
    names.add(file.filename)
  }
  return null
}

function fileProblem(file: unknown): string | null {
  if (typeof file !== 'object' || file === null) return 'is not an object'
  const { filename, size_bytes, content_hash, content_type } = file as Record<string, unknown>
  if (Object.keys(file).some((field) => !FIELDS.has(field))) return 'has a field that no file has'
  if (typeof filename !== 'string' || filename === '') return 'has no filename'
  if (filename.includes(':')) return 'has ":" in its filename'
  if (!filename.isWellFormed()) return 'has a lone surrogate in its filename'
  if (!Number.isSafeInteger(size_bytes) || (size_bytes as number) < 0) return 'has no size_bytes'
  if (typeof content_hash !== 'string' || !isHex(bare(content_hash), 32)) return 'has no content_hash'
  if (content_type === undefined || content_type === null) return null
  const isMediaType = typeof content_type === 'string' && /^[\x20-\x7e]{1,255}$/.test(content_type)
  return isMediaType ? null : 'has a content_type that is none'
}
