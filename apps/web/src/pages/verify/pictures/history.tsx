// The chain of all statements about a locker, newest first, with the links between them and their anchors. Every
// statement is recomputed and its signature checked here.

import { useSignal } from '@preact/signals'
import { explorerUrl } from '@svc/sdk/explorer'
import type { PinnedKey } from '@svc/verifier/pinned-keys'
import { useEffect } from 'preact/hooks'
import { common } from '#texts/common'
import { texts } from '#texts/verify-pictures'
import { getJson, publicUrl, RequestFailed } from '../../../gateway.ts'
import { Button } from '../../../ui/button.tsx'
import { CopyButton } from '../../../ui/copy.tsx'
import { Empty, ErrorState, Loading } from '../../../ui/states.tsx'
import { Status, type Tone } from '../../../ui/status.tsx'
import './history.css'
import {
  checkStatement,
  type HistoryAnchor,
  type HistoryNode,
  historyNodes,
  type Link,
  type ShownStatement,
  statementsIn,
} from './history-chain.ts'

const t = texts.history
/** Checking a signature takes a few milliseconds, so pages are small. */
const PAGE = 50
/** The highest statement number: numbers have 32 bits. */
const MAX_SEQUENCE = 4_294_967_295

interface HistoryProps {
  receiptId: string
  pinnedKeys?: readonly PinnedKey[]
  /** The domain tag, if it is not the default. */
  domainTag?: string | null
  /** The statement of the bundle on this page. */
  shown?: ShownStatement | null
}

interface Loaded {
  listed: readonly unknown[]
  /** Whether the gateway has sent all statements. */
  isAll: boolean
}

export function History({ receiptId, pinnedKeys = [], domainTag = null, shown = null }: HistoryProps) {
  const loaded = useSignal<Loaded>({ listed: [], isAll: false })
  const state = useSignal<'loading' | 'ready' | RequestFailed>('loading')

  const load = async (signal?: AbortSignal) => {
    state.value = 'loading'
    try {
      const before = oldest(loaded.value.listed)
      const found = await earlierStatements(receiptId, before, signal)
      if (signal?.aborted) return
      loaded.value = { listed: [...found, ...loaded.value.listed], isAll: isLast(found, before) }
      state.value = 'ready'
    } catch (error) {
      if (signal?.aborted) return
      if (!(error instanceof RequestFailed)) throw error
      state.value = error
    }
  }
  useEffect(() => {
    const running = new AbortController()
    loaded.value = { listed: [], isAll: false }
    void load(running.signal)
    return () => running.abort()
  }, [receiptId])

  const { listed, isAll } = loaded.value
  if (listed.length === 0) {
    if (state.value === 'loading') return <Loading label={t.loading} />
    if (state.value === 'ready') return <Empty title={t.none} text={t.noneText} />
  }
  const given = { pinnedKeys, ...(domainTag !== null && { domainTag }) }
  const nodes = historyNodes(checkedOnce(listed, given), { shown, isAll })
  return (
    <div class="history">
      <p class="history-lead">{t.lead}</p>
      {nodes.length > 0 && <Summary nodes={nodes} hasPins={pinnedKeys.length > 0} />}
      <ol class="history-list" reversed>
        {nodes.toReversed().map((node, i) => (
          <Statement key={`${node.sequence}-${node.digest}-${i}`} node={node} />
        ))}
      </ol>
      <More state={state.value} isAll={isAll} left={nodes[0] ? nodes[0].sequence - 1 : 0} load={() => void load()} />
    </div>
  )
}

async function earlierStatements(receiptId: string, before: number, signal?: AbortSignal): Promise<readonly unknown[]> {
  const query = new URLSearchParams({
    receipt_id: receiptId,
    before: String(before),
    limit: String(PAGE),
    envelopes: 'true',
  })
  return statementsIn(await getJson<unknown>(`/v1/storage/statements?${query}`, signal)).slice(0, PAGE)
}

function listedSequence(listed: unknown): number {
  const { sequence } = (listed ?? {}) as { sequence?: unknown }
  return typeof sequence === 'number' ? sequence : 0
}

function oldest(listed: readonly unknown[]): number {
  return listed.reduce<number>((least, one) => Math.min(least, listedSequence(one)), MAX_SEQUENCE)
}

/** Stops asking a gateway that sends nothing, or nothing earlier. */
function isLast(found: readonly unknown[], before: number): boolean {
  const first = oldest(found)
  return found.length === 0 || first <= 1 || first >= before
}

const CHECKED = new WeakMap<object, { given: string; checked: ReturnType<typeof checkStatement> }>()

/** Caches checks, so that signatures are not checked again while the list grows. */
function checkedOnce(listed: readonly unknown[], given: Parameters<typeof checkStatement>[1]) {
  const key = JSON.stringify(given)
  return listed.map((one) => {
    if (typeof one !== 'object' || one === null) return checkStatement(one, given)
    const known = CHECKED.get(one)
    if (known?.given === key) return known.checked
    const checked = checkStatement(one, given)
    CHECKED.set(one, { given: key, checked })
    return checked
  })
}

function Summary({ nodes, hasPins }: { nodes: readonly HistoryNode[]; hasPins: boolean }) {
  const broken = nodes.filter(({ state, link }) => state === 'failed' || link.kind === 'broken' || link.kind === 'gap')
  const isUnchecked = nodes.some(({ state }) => state === 'listed')
  const isOtherKey = nodes.some(({ link }) => link.kind === 'linkedUnpinned')
  const tone: Tone = broken.length > 0 ? 'bad' : isUnchecked || isOtherKey ? 'warn' : hasPins ? 'good' : 'info'
  const text = broken.length > 0 ? t.checkedSome(broken.length) : isUnchecked ? t.uncheckedSome : null
  return (
    <p class="history-summary">
      <Status tone={tone}>{text ?? (isOtherKey ? t.links.linkedUnpinned : t.checkedAll(nodes.length))}</Status>
      {!hasPins && <span>{t.notPinned}</span>}
      {nodes.some(({ anchor }) => anchor !== null) && <span>{t.anchor.unchecked}</span>}
    </p>
  )
}

const TONES: Record<HistoryNode['state'], Tone> = { pinned: 'good', signed: 'info', failed: 'bad', listed: 'neutral' }

function Statement({ node }: { node: HistoryNode }) {
  const { sequence, digest, issuedAt, fileCount, totalBytes, state, whys, remarks, link, since } = node
  return (
    <li class={`statement statement-${state}`} value={sequence}>
      <div class="statement-head">
        <h3>{t.statement(sequence)}</h3>
        <Status tone={TONES[state]}>{t.states[state]}</Status>
        {remarks.includes('here') && <Status tone="neutral">{t.here}</Status>}
      </div>
      <p class="statement-facts">
        <time dateTime={issuedAt}>
          {t.time(issuedAt)} {t.utc}
        </time>
        {fileCount !== null && totalBytes !== null && <span>{t.size(fileCount, common.bytes(totalBytes))}</span>}
      </p>
      <div class="statement-digest">
        <code>{digest}</code>
        <CopyButton text={digest} what={t.digest} />
      </div>
      <Problems whys={whys} remarks={remarks} />
      <Anchor node={node} />
      <p class={`statement-link link-${link.kind}`}>
        <LinkMark kind={link.kind} />
        <span>
          {linkText(link)}
          {since !== null && link.kind === 'linked' && `, ${t.later(since)}`}
        </span>
      </p>
    </li>
  )
}

function Problems({ whys, remarks }: Pick<HistoryNode, 'whys' | 'remarks'>) {
  const sentences = [
    ...remarks.flatMap((remark) => (remark === 'here' ? [] : [REMARKS[remark]])),
    ...whys.map((why) => `${why.charAt(0).toUpperCase()}${why.slice(1)}.`),
  ]
  if (sentences.length === 0) return null
  return (
    <ul class="statement-problems">
      {sentences.map((sentence) => (
        <li key={sentence}>{sentence}</li>
      ))}
    </ul>
  )
}

const REMARKS = {
  otherHere: t.otherHere,
  foreign: t.foreign,
  mislabelled: t.mislabelled,
  malformed: t.malformed,
  listedOnly: t.listedOnly,
}

function Anchor({ node: { anchor, absence } }: { node: HistoryNode }) {
  if (!anchor) {
    const known = absence !== null && Object.hasOwn(t.anchor.absence, absence)
    return (
      <p class="statement-anchor">
        {known ? t.anchor.absence[absence as keyof typeof t.anchor.absence] : t.anchor.none}
      </p>
    )
  }
  const { network, tx, slot, time, isOfStatement } = anchor
  // Without an explorer address, it may be a local chain, so the gateway's name for it is not shown.
  const url = isOfStatement ? explorerUrl({ network, tx, service: publicUrl() }) : null
  return (
    <p class="statement-anchor">
      {isOfStatement ? (
        <span>{url === null ? t.anchor.title : t.anchor.by(networkName(anchor))}</span>
      ) : (
        <Status tone="bad">{t.anchor.other}</Status>
      )}
      {slot !== null && <span>{t.anchor.slot(slot)}</span>}
      {time !== null && (
        <time dateTime={time}>
          {t.time(time)} {t.utc}
        </time>
      )}
      {url ? (
        <a href={url} target="_blank" rel="noreferrer">
          {t.anchor.explorer}
        </a>
      ) : (
        <span class="statement-tx">
          <code>{tx}</code>
          <CopyButton text={tx} what={t.anchor.transaction} />
        </span>
      )}
    </p>
  )
}

function networkName({ network }: HistoryAnchor): string {
  return Object.hasOwn(t.anchor.networks, network) ? (t.anchor.networks[network] as string) : network
}

function linkText(link: Link): string {
  return link.kind === 'gap' ? t.links.gap(link.missing) : t.links[link.kind]
}

const MARKS: Record<Link['kind'], string> = {
  first: 'M3 12h10M8 3v9',
  linked: 'M8 2v12M4 10l4 4 4-4',
  linkedUnpinned: 'M8 2v12M4 10l4 4 4-4',
  listed: 'M8 2v2M8 7v2M8 12v2',
  earlier: 'M8 2v2M8 7v2M8 12v2',
  gap: 'M4 4l8 8M12 4l-8 8',
  broken: 'M4 4l8 8M12 4l-8 8',
}

function LinkMark({ kind }: { kind: Link['kind'] }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={MARKS[kind]} />
    </svg>
  )
}

interface MoreProps {
  state: 'loading' | 'ready' | RequestFailed
  isAll: boolean
  left: number
  load(): void
}

function More({ state, isAll, left, load }: MoreProps) {
  if (state === 'loading') return <Loading label={t.loading} />
  if (state !== 'ready') {
    return <ErrorState title={t.failed} text={state.hint ?? (state.message || common.states.noAnswer)} retry={load} />
  }
  if (isAll || left === 0) return null
  return (
    <div class="row">
      <Button onClick={load}>{t.earlier}</Button>
      <span>{t.earlierOf(left)}</span>
    </div>
  )
}
