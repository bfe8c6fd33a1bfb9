// What the page and its worker tell each other. Everything here can be posted.

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

/** A file of the visitor, and its path within what they dropped. */
export interface GivenFile {
  path: string
  file: File
}

/** Null where the browser could not read it. */
export interface HashedFile {
  path: string
  content: ContentHash | null
}

export interface CheckInput {
  bundle: Blob
  keys: readonly PinnedKey[]
  /** What the lists of keys say besides. */
  listed: ListedChanges
  /** Publication keys, base58. */
  signers: readonly string[]
  domainTag: string | null
  /** The text of a policy for logs. */
  policy: string | null
  /** The address of a node; null asks nobody. */
  node: string | null
  receipt: ReceiptTexts | null
  files: { list: readonly HashedFile[]; isWhole: boolean } | null
}

export type FileState =
  | 'unchanged'
  /** The same content as a file of the bundle that has another name. */
  | 'renamed'
  | 'changed'
  | 'unreadable'
  | 'unlisted'
  /** The bundle does not show all of its files. */
  | 'not_shown'

export interface ComparedFile {
  path: string
  state: FileState
  /** Its name in the bundle, where it is another. */
  listedAs: string | null
}

/** A bundle that could be read, with all facts about it by name. */
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
  /** Part of a name, in any case. */
  search: string
}

export interface FilePage {
  total: number
  rows: { index: number; file: FileEntry | null; leaf: string | null }[]
}

/** What the page can ask its worker. Those that take long report how far they are. */
export interface Calls {
  fetchBundle(url: string): Promise<Blob>
  readKeys(text: string): Promise<PinnedKeys>
  /** Null for a policy that can be used. */
  policyProblem(text: string): Promise<string | null>
  readReceipt(file: Blob): Promise<ReceiptTexts | null>
  hashFiles(files: readonly GivenFile[]): Promise<HashedFile[]>
  check(input: CheckInput): Promise<CheckResult>
  files(query: FileQuery): Promise<FilePage>
  path(index: number): Promise<ShownProof | null>
  compareBundles(input: CompareInput): Promise<Comparison>
  /** Of the bundles that were compared last. */
  differences(query: RowQuery): Promise<{ rows: DifferenceRow[]; matching: number }>
}

export type Call = keyof Calls

/** Of bytes; `of` is null where nobody knows. */
export interface Step {
  done: number
  of: number | null
}

export type ToWorker = { id: number; call: Call; argument: unknown } | { cancel: number }

export type FromWorker =
  | { id: number; step: Step }
  | { id: number; value: unknown }
  | { id: number; error: { name: string; message: string; status: number | null; hint: string | null } }
