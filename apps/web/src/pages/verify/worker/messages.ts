// The messages between the page and its worker. All of them can be posted.

import type { EvidenceEnvelope } from '@svc/protocol/evidence'
import type { FileEntry } from '@svc/protocol/merkle'
import type { ContentHash } from '@svc/protocol/sha256'
import type { Fact } from '@svc/verifier/facts'
import type { ListedChanges, PinnedKey, PinnedKeys } from '@svc/verifier/pinned-keys'
import type { ReceiptTexts } from '@svc/verifier/receipt-facts'
import type { Refusal } from '@svc/verifier/untrusted'
import type { VerifiedBundle } from '@svc/verifier/verify-bundle'
import type { Comparison, Side } from '../pictures/compare-bundles.ts'
import type { DifferenceRow, RowQuery } from '../pictures/differences.ts'
import type { ShownProof } from '../pictures/merkle-path.ts'

/** A file of the visitor, and its path within the drop. */
export interface GivenFile {
  path: string
  file: File
}

/** A hashed file; its hash is null if the browser could not read it. */
export interface HashedFile {
  path: string
  content: ContentHash | null
}

export interface CheckInput {
  bundle: Blob
  keys: readonly PinnedKey[]
  /** The other contents of the key lists. */
  listed: ListedChanges
  /** Publication keys, base58. */
  signers: readonly string[]
  domainTag: string | null
  /** Log keys as name+hash+base64. */
  logKeys: readonly string[]
  /** The text of a policy for logs. */
  policy: string | null
  /** The address of a node; null makes no request. */
  node: string | null
  receipt: ReceiptTexts | null
  files: { list: readonly HashedFile[]; isComplete: boolean } | null
}

export type FileState =
  | 'unchanged'
  /** A file of the bundle has the same content under another name. */
  | 'renamed'
  | 'changed'
  | 'unreadable'
  | 'unlisted'
  /** The bundle hides some of its files. */
  | 'not_shown'

export interface ComparedFile {
  path: string
  state: FileState
  /** Its name in the bundle, if it differs. */
  listedAs: string | null
}

/** A readable bundle, with all facts about it by name. */
export interface CheckedBundle
  extends Pick<
    VerifiedBundle,
    'failed' | 'key' | 'followed' | 'receiptId' | 'anchor' | 'log' | 'counted' | 'redacted' | 'files' | 'unchecked'
  > {
  refused: null
  facts: Record<string, Fact>
  envelope: EvidenceEnvelope | null
  compared: ComparedFile[]
}

export type CheckResult = CheckedBundle | { refused: Refusal }

export type CompareInput = Record<Side, Blob> & Pick<CheckInput, 'keys' | 'domainTag'>

export interface FileQuery {
  offset: number
  limit: number
  /** Part of a name; case is ignored. */
  search: string
}

export interface FilePage {
  total: number
  rows: { index: number; file: FileEntry | null; leaf: string | null }[]
}

/** The calls to the worker. Long calls report progress. */
export interface Calls {
  fetchBundle(url: string): Promise<Blob>
  readKeys(text: string): Promise<PinnedKeys>
  /** Null for the key of a log. */
  logKeyProblem(text: string): Promise<string | null>
  /** Null for a policy that can be used. */
  policyProblem(text: string): Promise<string | null>
  readReceipt(file: Blob): Promise<ReceiptTexts | null>
  hashFiles(files: readonly GivenFile[]): Promise<HashedFile[]>
  check(input: CheckInput): Promise<CheckResult>
  files(query: FileQuery): Promise<FilePage>
  path(index: number): Promise<ShownProof | null>
  compareBundles(input: CompareInput): Promise<Comparison>
  /** Rows of the last comparison. */
  differences(query: RowQuery): Promise<{ rows: DifferenceRow[]; matching: number }>
}

export type Call = keyof Calls

/** Progress in bytes; `of` is null if unknown. */
export interface Step {
  done: number
  of: number | null
}

export type ToWorker = { id: number; call: Call; argument: unknown } | { cancel: number }

export type FromWorker =
  | { id: number; step: Step }
  | { id: number; value: unknown }
  | { id: number; error: { name: string; message: string; status: number | null; hint: string | null } }
