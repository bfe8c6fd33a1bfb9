// The state of the page: the bundle, the visitor's input, and the result of the check.

import { batch, type Signal, signal } from '@preact/signals'
import { type Fact, LOG_FACTS } from '@svc/verifier/facts'
import { type ListedChanges, NOTHING_LISTED, type PinnedKey } from '@svc/verifier/pinned-keys'
import type { ReceiptTexts } from '@svc/verifier/receipt-facts'
import { texts } from '#texts/verify'
import type { CheckInput, CheckResult, GivenFile, HashedFile, Step } from './worker/messages.ts'
import { type CheckWorker, WorkFailed } from './worker/start.ts'

/** The source of a bundle. */
export type Source =
  | { kind: 'file'; file: File }
  /** `isForeign`: on another host than this page. */
  | { kind: 'address'; url: string; isForeign: boolean }
  | { kind: 'receipt'; receiptId: string; url: string; receiptUrl: string }

export interface Opened {
  source: Source
  bundle: Blob
  receipt: ReceiptTexts | null
}

export type Activity = { doing: 'fetching' | 'checking' | 'hashing' | 'asking'; step: Step | null }

export type Failure =
  | { kind: 'cancelled' }
  | { kind: 'not_fetched'; message: string; status: number | null; hint: string | null }
  /** The browser failed: it ran out of memory, or the file is gone. */
  | { kind: 'broken'; message: string }

/** Public keys that the visitor trusts. */
export interface Pins {
  keys: readonly PinnedKey[]
  listed: ListedChanges
  signers: readonly string[]
  domainTag: string | null
  /** Log keys as name+hash+base64. */
  logKeys: readonly string[]
  /** The text of a policy for logs. */
  policy: string | null
}

interface ChosenFiles {
  list: readonly GivenFile[]
  isComplete: boolean
}

export interface Checking {
  worker: CheckWorker
  opened: Signal<Opened | null>
  /** A bundle on another host, which is fetched only after the visitor agrees. */
  pending: Signal<Extract<Source, { kind: 'address' }> | null>
  result: Signal<CheckResult | null>
  activity: Signal<Activity | null>
  failure: Signal<Failure | null>
  pins: Signal<Pins>
  node: Signal<string | null>
  files: Signal<ChosenFiles | null>
  open(source: Source, agreed?: boolean): Promise<void>
  close(): void
  /** After a failure: fetches the bundle if necessary, and checks it. */
  again(): Promise<void>
  pin(pins: Pins): Promise<void>
  ask(node: string): Promise<void>
  addReceipt(receipt: ReceiptTexts): Promise<void>
  compare(files: readonly GivenFile[], isComplete: boolean): Promise<void>
  setWhole(isComplete: boolean): Promise<void>
  dropFiles(): Promise<void>
  cancel(): void
}

const NOTHING_PINNED: Pins = {
  keys: [],
  listed: NOTHING_LISTED,
  signers: [],
  domainTag: null,
  logKeys: [],
  policy: null,
}

export function createChecking(worker: CheckWorker): Checking {
  const opened = signal<Opened | null>(null)
  const pending = signal<Checking['pending']['value']>(null)
  const result = signal<CheckResult | null>(null)
  const activity = signal<Activity | null>(null)
  const failure = signal<Failure | null>(null)
  const pins = signal<Pins>(NOTHING_PINNED)
  const node = signal<string | null>(null)
  const files = signal<ChosenFiles | null>(null)
  let hashing: Hashing | null = null
  let controller = new AbortController()
  let last: Source | null = null

  /** Runs one task at a time: a new task aborts the running one. */
  async function run(doing: Activity['doing'], work: (run: Run) => Promise<void>): Promise<void> {
    controller.abort()
    const mine = new AbortController()
    controller = mine
    const { signal } = mine
    const show = (next: Activity) => {
      if (!signal.aborted) activity.value = next
    }
    batch(() => {
      failure.value = null
      show({ doing, step: null })
    })
    try {
      await work({
        signal,
        next: (doing) => show({ doing, step: null }),
        onStep: (step) => show({ doing: doingNow(), step }),
      })
    } catch (error) {
      if (!signal.aborted) failure.value = failureOf(error)
    }
    if (controller === mine) activity.value = null
  }

  const doingNow = () => activity.value?.doing ?? 'checking'

  async function checkOpened({ signal, next, onStep }: Run): Promise<void> {
    const { value } = opened
    if (!value) return
    result.value = outdated(result.value)
    const hashed = await hashChosen(next)
    if (signal.aborted) return
    next(node.value === null ? 'checking' : 'asking')
    const { bundle, receipt } = value
    const input = { bundle, receipt, ...pins.value, node: node.value, files: hashed }
    const found = await worker.call('check', input, { signal, onStep })
    if (!signal.aborted) result.value = found
  }

  const check = () => run('checking', checkOpened)

  /** Hashes the files. Hashing continues while new checks start: all of them wait for the same hashes. */
  async function hashChosen(next: Run['next']): Promise<CheckInput['files']> {
    if (!files.value) return null
    next('hashing')
    hashing ??= startHashing(files.value.list)
    const list = await hashing.list
    return files.value && { list, isComplete: files.value.isComplete }
  }

  function startHashing(given: readonly GivenFile[]): Hashing {
    const stopped = new AbortController()
    const onStep = (step: Step) => {
      if (doingNow() === 'hashing') activity.value = { doing: 'hashing', step }
    }
    const list = worker.call('hashFiles', given, { signal: stopped.signal, onStep })
    list.catch(() => {
      if (hashing?.list === list) hashing = null
    })
    return { list, stop: () => stopped.abort() }
  }

  function stopHashing(): void {
    hashing?.stop()
    hashing = null
  }

  function clear(): void {
    controller.abort()
    stopHashing()
    batch(() => {
      opened.value = null
      result.value = null
      files.value = null
      node.value = null
      pending.value = null
    })
  }

  async function open(source: Source, agreed = false): Promise<void> {
    clear()
    last = source
    if (source.kind === 'address' && source.isForeign && !agreed) {
      pending.value = source
      return
    }
    await run('fetching', async (run) => {
      const bundle = source.kind === 'file' ? source.file : await worker.call('fetchBundle', source.url, run)
      const receipt = source.kind === 'receipt' ? await fetchReceipt(source.receiptUrl, run) : null
      if (run.signal.aborted) return
      opened.value = { source, bundle, receipt }
      await checkOpened(run)
    })
  }

  return {
    worker,
    opened,
    pending,
    result,
    activity,
    failure,
    pins,
    node,
    files,
    again: () => (opened.value || !last ? check() : open(last, true)),
    open,
    close() {
      clear()
      batch(() => {
        activity.value = null
        failure.value = null
      })
    },
    async pin(next) {
      pins.value = next
      if (opened.value) await check()
    },
    async ask(url) {
      node.value = url
      await check()
    },
    async addReceipt(receipt) {
      if (!opened.value) return
      opened.value = { ...opened.value, receipt }
      await check()
    },
    async compare(list, isComplete) {
      stopHashing()
      files.value = { list, isComplete }
      await run('hashing', async (run) => {
        await hashChosen(run.next)
        if (!run.signal.aborted) await checkOpened(run)
      })
    },
    async setWhole(isComplete) {
      if (!files.value) return
      files.value = { ...files.value, isComplete }
      await check()
    },
    async dropFiles() {
      stopHashing()
      files.value = null
      await check()
    },
    cancel() {
      controller.abort()
      stopHashing()
      batch(() => {
        activity.value = null
        failure.value = { kind: 'cancelled' }
      })
    },
  }

  /** Fetches the receipt. A bundle can be checked without it, so this may fail. */
  async function fetchReceipt(url: string, { signal }: Run): Promise<ReceiptTexts | null> {
    const file = await worker.call('fetchBundle', url, { signal }).catch(() => null)
    return file && worker.call('readReceipt', file)
  }
}

/** Marks a result as outdated: it does not apply to other keys, files or nodes. */
function outdated(result: CheckResult | null): CheckResult | null {
  if (result === null || result.refused) return null
  const fact: Fact = { value: 'not_checked', why: texts.fact.outdated }
  const facts = Object.fromEntries(Object.keys(result.facts).map((name) => [name, fact]))
  return { ...result, facts, failed: [], compared: [] }
}

interface Hashing {
  list: Promise<readonly HashedFile[]>
  stop(): void
}

interface Run {
  signal: AbortSignal
  next(doing: Activity['doing']): void
  onStep(step: Step): void
}

function failureOf(error: unknown): Failure {
  if (error instanceof WorkFailed && error.name === 'FetchFailed') {
    const { message, status, hint } = error
    return { kind: 'not_fetched', message, status, hint }
  }
  return { kind: 'broken', message: (error as Error).message }
}

/** The facts that failed, passed, were not checked, and do not count for this bundle. */
export interface Verdict {
  failed: string[]
  passed: string[]
  open: string[]
  notApplicable: string[]
}

export function verdictOf({ facts, anchor, log, redacted }: Extract<CheckResult, { refused: null }>): Verdict {
  const verdict: Verdict = { failed: [], passed: [], open: [], notApplicable: [] }
  for (const [name, { value }] of Object.entries(facts)) {
    // Statements are published in the registry or in a memo; a memo has no record there. A log that the visitor did not
    // pin is optional evidence. A bundle without names shows no file to prove.
    const isOptional = log !== null && value === 'not_checked' && (LOG_FACTS as readonly string[]).includes(name)
    const needsNames = name === 'inclusion_proven' && redacted?.redaction === 'no_names'
    const applies = !isOptional && !needsNames && (name !== 'registry_matches' || anchor?.type !== 'chain_memo_v2')
    if (value === 'failed') verdict.failed.push(name)
    else if (value === 'passed') verdict.passed.push(name)
    else if (applies) verdict.open.push(name)
    else verdict.notApplicable.push(name)
  }
  return verdict
}
