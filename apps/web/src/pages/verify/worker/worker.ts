// The worker of the page: it reads, hashes and checks, so that the page stays responsive.

import { readPolicy } from '@svc/protocol/transparency/policy'
import { jsonRpc } from '@svc/sdk/json-rpc'
import { readLogKey, readPinnedKeys } from '@svc/verifier/pinned-keys'
import { readReceipt, receiptFacts, uncheckedWith } from '@svc/verifier/receipt-facts'
import { type Given, verifyBundle } from '@svc/verifier/verify-bundle'
import { type Comparison, compareBundles } from '../pictures/compare-bundles.ts'
import type { Differences } from '../pictures/differences.ts'
import { type BundleFiles, createBundleFiles } from './bundle-files.ts'
import { FetchFailed, fetchBundle } from './fetch-bundle.ts'
import { createGivenSource, hashFiles } from './given-files.ts'
import type { Call, Calls, CheckInput, CheckResult, CompareInput, FromWorker, Step, ToWorker } from './messages.ts'

/** The context of one call. */
interface Run {
  signal: AbortSignal
  report(step: Step): void
}

type Handlers = {
  [C in Call]: (argument: Parameters<Calls[C]>[0], run: Run) => ReturnType<Calls[C]>
}

/** The files of the bundle that was checked last. */
let listed: BundleFiles | null = null
/** The differences of the last comparison. */
let differences: Differences | null = null

const HANDLERS: Handlers = {
  fetchBundle: (url, { signal, report }) => fetchBundle(url, signal, report),
  readKeys: async (text) => readPinnedKeys(text),
  logKeyProblem: async (text) => {
    const key = readLogKey(text)
    return typeof key === 'string' ? key : null
  },
  policyProblem: async (text) => {
    const policy = readPolicy(text)
    return typeof policy === 'string' ? policy : null
  },
  readReceipt: async (file) => readReceipt(new Uint8Array(await file.arrayBuffer())),
  hashFiles: (files, { signal, report }) => hashFiles(files, signal, report),
  check,
  files: async (query) => listed?.page(query) ?? { total: 0, rows: [] },
  path: async (index) => listed?.path(index) ?? null,
  compareBundles: compare,
  differences: async (query) => differences?.rows(query) ?? { rows: [], matching: 0 },
}

/** Parses a policy that the form has checked. */
function policyOf(text: string): Pick<Given, 'policy'> {
  const policy = readPolicy(text)
  return typeof policy === 'string' ? {} : { policy }
}

async function check(input: CheckInput, run: Run): Promise<CheckResult> {
  const { bundle, keys, listed: listedChanges, signers, domainTag, logKeys, policy, node, receipt, files } = input
  const given: Given = {
    pinnedKeys: keys,
    listed: listedChanges,
    pinnedSigners: signers,
    // The form has checked them.
    pinnedLogs: logKeys.map(readLogKey).filter((key) => typeof key !== 'string'),
    ...(domainTag !== null && { domainTag }),
    ...(policy !== null && policyOf(policy)),
    ...(node !== null && { rpc: jsonRpc(node, { signal: run.signal }) }),
  }
  const found = createBundleFiles()
  const source = files && createGivenSource(files, listed ?? found)
  const verification = await verifyBundle(pieces(bundle, run), {
    ...given,
    ...(source && { files: source.source }),
    onFiles: found.addFiles,
    onLeaves: found.addLeaves,
  })
  run.signal.throwIfAborted()
  if (verification.refused) {
    listed = null
    return verification
  }
  const { facts, failed, key, followed, envelope, receiptId, anchor, log, counted, redacted } = verification
  found.end(verification)
  listed = found
  const ofReceipt = receipt && receiptFacts(receipt, verification)
  return {
    refused: null,
    facts: { ...facts, ...ofReceipt },
    failed,
    key,
    followed,
    envelope,
    receiptId,
    anchor,
    log,
    counted,
    redacted,
    files: verification.files,
    unchecked: uncheckedWith(ofReceipt, verification),
    compared: source?.end(redacted !== null && redacted.shown !== redacted.total) ?? [],
  }
}

async function compare({ before, after, keys, domainTag }: CompareInput, run: Run): Promise<Comparison> {
  // The lists are long: release the previous ones first.
  differences = null
  const bundles = { before: pieces(before, run), after: pieces(after, run) }
  const found = await compareBundles(bundles, { pinnedKeys: keys, ...(domainTag !== null && { domainTag }) })
  run.signal.throwIfAborted()
  differences = found.differences
  return found.comparison
}

async function* pieces(bundle: Blob, { signal, report }: Run): AsyncGenerator<Uint8Array> {
  const reader = bundle.stream().getReader()
  let done = 0
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    signal.throwIfAborted()
    yield piece.value
    done += piece.value.length
    report({ done, of: bundle.size })
  }
}

/** The interval of progress reports. */
const REPORT_MS = 80

const running = new Map<number, AbortController>()
const post = (message: FromWorker) => self.postMessage(message)

async function answer({ id, call, argument }: Exclude<ToWorker, { cancel: number }>): Promise<void> {
  const controller = new AbortController()
  running.set(id, controller)
  let reported = Number.NEGATIVE_INFINITY
  const report = (step: Step) => {
    const now = performance.now()
    if (now - reported < REPORT_MS) return
    reported = now
    post({ id, step })
  }
  try {
    const handle = HANDLERS[call] as (argument: unknown, run: Run) => Promise<unknown> // each call has its own types
    post({ id, value: await handle(argument, { signal: controller.signal, report }) })
  } catch (error) {
    const { name, message } = error as Error
    const { status, hint } = error instanceof FetchFailed ? error : { status: null, hint: null }
    post({ id, error: { name: controller.signal.aborted ? 'AbortError' : name, message, status, hint } })
  } finally {
    running.delete(id)
  }
}

self.addEventListener('message', ({ data }: MessageEvent<ToWorker>) => {
  if ('cancel' in data) running.get(data.cancel)?.abort()
  else void answer(data)
})
