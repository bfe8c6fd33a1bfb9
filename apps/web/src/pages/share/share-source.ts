// Requests of the page of a share. The id of the share is all that it knows; no answer names the locker or its receipt.

import type { SharedContent } from '@svc/api/shares'
import { urlOf } from '../../address.ts'
import { getJson, RequestFailed } from '../../gateway.ts'
import { encodedName } from '../view/source.ts'

/** The number of files that are listed at first, and with each further click. */
const PAGE_FILES = 200

export type ShareProblem = 'ended' | 'missing' | 'bytes' | 'takenDown' | 'offline' | 'other'

/** A file of a share, as its list or the share itself describes it. */
export interface SharedFacts {
  /** Relative to the shared folder; of a shared file, the last part of its name. */
  filename: string
  size_bytes: number | null
  content_type: string | null
  uploaded_at: string | null
  /** Whether the newest statement includes it; null if only the proof of the file can show it. */
  attested: boolean | null
}

export function readShare(id: string, cursor?: string): Promise<SharedContent> {
  const query = new URLSearchParams({ limit: String(PAGE_FILES), ...(cursor !== undefined && { cursor }) })
  return getJson<SharedContent>(`${pathOf(id)}?${query}`)
}

export function sharedFileUrl(id: string, filename: string): string {
  return urlOf(`${pathOf(id)}/f/${encodedName(filename)}`)
}

export function sharedProofPath(id: string, filename: string): string {
  return `${pathOf(id)}/proof/${encodedName(filename)}`
}

export function lastPart(filename: string): string {
  return filename.slice(filename.lastIndexOf('/') + 1)
}

const PROBLEMS: Readonly<Record<string, ShareProblem>> = {
  SHARE_NOT_FOUND: 'ended',
  FILE_NOT_FOUND: 'missing',
  CONTENT_NOT_FOUND: 'bytes',
  LOCKER_TAKEN_DOWN: 'takenDown',
}

export function problemOf(error: unknown): ShareProblem {
  if (!(error instanceof RequestFailed)) return 'other'
  if (error.status === 0) return 'offline'
  return PROBLEMS[error.code ?? ''] ?? 'other'
}

function pathOf(id: string): string {
  return `/v1/shares/${encodeURIComponent(id)}`
}
