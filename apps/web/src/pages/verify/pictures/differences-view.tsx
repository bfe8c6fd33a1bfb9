// The differences of two statements. The worker reads, checks and compares their bundles.

import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { common } from '#texts/common'
import { texts } from '#texts/verify-pictures'
import { Button } from '../../../ui/button.tsx'
import { Field } from '../../../ui/field.tsx'
import { Progress } from '../../../ui/progress.tsx'
import { Status } from '../../../ui/status.tsx'
import type { Pins } from '../checking.ts'
import type { Step } from '../worker/messages.ts'
import { type CheckWorker, WorkFailed } from '../worker/start.ts'
import type { ComparedSide, Comparison, Side } from './compare-bundles.ts'
import { DifferenceList } from './difference-list.tsx'
import './differences.css'
import type { ShownStatement } from './history-chain.ts'

const t = texts.differences

interface DifferencesProps {
  worker: CheckWorker
  /** The bundle on this page. */
  bundle: Blob
  /** Its statement; null in version 1. */
  shown: ShownStatement | null
  /** The address of another statement's bundle at the gateway; null without a gateway. */
  urlOfSequence: ((sequence: number) => string) | null
  pins: Pick<Pins, 'keys' | 'domainTag'>
}

type Choice = { kind: 'this' } | { kind: 'sequence'; sequence: number } | { kind: 'file'; file: File | null }
type Compared = Extract<Comparison, { refused: null }>
type State =
  | { name: 'idle' }
  | { name: 'running'; side: Side | null; step: Step | null }
  | { name: 'failed'; why: string }
  | { name: 'done'; compared: Compared }

const SIDES: readonly Side[] = ['before', 'after']
const SIDE_NAMES: Record<Side, string> = { before: t.before, after: t.after }

export function Differences({ worker, bundle, shown, urlOfSequence, pins }: DifferencesProps) {
  const choices = useSignal<Record<Side, Choice>>(firstChoices(shown, urlOfSequence !== null))
  const state = useSignal<State>({ name: 'idle' })
  const running = useRef<AbortController | null>(null)
  const stop = () => {
    running.current?.abort()
    state.value = { name: 'idle' }
  }
  // Reset the differences for another bundle.
  useEffect(() => {
    choices.value = firstChoices(shown, urlOfSequence !== null)
    return stop
  }, [bundle])

  const compare = async () => {
    running.current?.abort()
    const mine = new AbortController()
    running.current = mine
    const { signal } = mine
    const chosen = choices.value
    let reading: Side | null = null
    const show = (step: Step | null) => {
      if (!signal.aborted) state.value = { name: 'running', side: reading, step }
    }
    try {
      const blobs: Partial<Record<Side, Blob>> = {}
      for (const side of SIDES) {
        reading = side
        show(null)
        blobs[side] = await blobOf(chosen[side], (url) => worker.call('fetchBundle', url, { signal, onStep: show }))
      }
      reading = null
      show(null)
      const { keys, domainTag } = pins
      const input = { ...(blobs as Record<Side, Blob>), keys, domainTag }
      const comparison = await worker.call('compareBundles', input, { signal, onStep: show })
      if (!signal.aborted) state.value = outcome(comparison, chosen)
    } catch (error) {
      if (!signal.aborted) state.value = { name: 'failed', why: reasonOf(error as Error, reading) }
    }
  }

  async function blobOf(choice: Choice, fetched: (url: string) => Promise<Blob>): Promise<Blob> {
    if (choice.kind === 'this') return bundle
    if (choice.kind === 'file') return choice.file as File // the button waits for it
    if (!urlOfSequence) throw new Error(t.nobody)
    return fetched(urlOfSequence(choice.sequence))
  }

  const { value } = state
  const isReady = SIDES.every((side) => isChosen(choices.value[side]))
  return (
    <div class="differences">
      <p class="differences-lead">{t.lead}</p>
      <form
        class="differences-form"
        onSubmit={(event) => {
          event.preventDefault()
          void compare()
        }}
      >
        {SIDES.map((side) => (
          <SideChoice
            key={side}
            side={side}
            choice={choices.value[side]}
            newest={urlOfSequence === null ? null : (shown?.sequence ?? 1)}
            choose={(choice) => {
              stop()
              choices.value = { ...choices.value, [side]: choice }
            }}
          />
        ))}
        <Button type="submit" kind="primary" disabled={!isReady} busy={value.name === 'running'}>
          {t.compare}
        </Button>
      </form>
      <div role="status">
        {value.name === 'running' && <Running {...value} stop={stop} />}
        {value.name === 'failed' && (
          <p class="differences-failed">
            <Status tone="bad">{t.failed}</Status> {value.why}
          </p>
        )}
        {value.name === 'done' && <About compared={value.compared} />}
      </div>
      {value.name === 'done' && <DifferenceList worker={worker} compared={value.compared} />}
    </div>
  )
}

function firstChoices(shown: ShownStatement | null, canAsk: boolean): Record<Side, Choice> {
  const hasEarlier = canAsk && shown !== null && shown.sequence > 1
  const before: Choice = hasEarlier ? { kind: 'sequence', sequence: shown.sequence - 1 } : { kind: 'file', file: null }
  return { before, after: { kind: 'this' } }
}

function isChosen(choice: Choice): boolean {
  if (choice.kind === 'sequence') return Number.isSafeInteger(choice.sequence) && choice.sequence > 0
  return choice.kind === 'this' || choice.file !== null
}

function outcome(comparison: Comparison, chosen: Record<Side, Choice>): State {
  if (comparison.refused) {
    const { side, why } = comparison.refused
    return { name: 'failed', why: t.refused(SIDE_NAMES[side], why ?? t.redacted) }
  }
  for (const side of SIDES) {
    const choice = chosen[side]
    const sequence = comparison[side].statement?.sequence ?? 0
    if (choice.kind === 'sequence' && choice.sequence !== sequence) {
      return { name: 'failed', why: t.refused(SIDE_NAMES[side], t.wrongSequence(sequence)) }
    }
  }
  return { name: 'done', compared: comparison }
}

function reasonOf(error: Error, reading: Side | null): string {
  const why = (error instanceof WorkFailed && error.hint) || error.message
  return reading === null ? why : t.noAnswer(SIDE_NAMES[reading], why)
}

interface SideChoiceProps {
  side: Side
  choice: Choice
  /** The highest known number; null without a gateway. */
  newest: number | null
  choose(choice: Choice): void
}

function SideChoice({ side, choice, newest, choose }: SideChoiceProps) {
  const of: Record<Choice['kind'], () => Choice> = {
    this: () => ({ kind: 'this' }),
    sequence: () => ({ kind: 'sequence', sequence: Math.max(1, (newest ?? 1) - 1) }),
    file: () => ({ kind: 'file', file: null }),
  }
  const kinds = [
    ['this', t.thisBundle],
    ...(newest === null ? [] : [['sequence', t.bySequence] as const]),
    ['file', t.byFile],
  ] as const
  return (
    <fieldset class="side">
      <legend>{SIDE_NAMES[side]}</legend>
      <select
        class="input"
        aria-label={SIDE_NAMES[side]}
        value={choice.kind}
        onChange={(event) => choose(of[event.currentTarget.value as Choice['kind']]())}
      >
        {kinds.map(([kind, name]) => (
          <option key={kind} value={kind}>
            {name}
          </option>
        ))}
      </select>
      {choice.kind === 'sequence' && (
        <Field label={t.number}>
          {(control) => (
            <input
              {...control}
              type="number"
              min={1}
              step={1}
              required
              value={choice.sequence}
              onInput={(event) => choose({ kind: 'sequence', sequence: event.currentTarget.valueAsNumber })}
            />
          )}
        </Field>
      )}
      {choice.kind === 'file' && (
        <label class="side-file">
          <span>{choice.file?.name ?? t.file}</span>
          <input
            class="quiet-text"
            type="file"
            accept=".json,application/json"
            aria-label={t.fileOf(SIDE_NAMES[side])}
            onChange={(event) => choose({ kind: 'file', file: event.currentTarget.files?.[0] ?? null })}
          />
        </label>
      )}
    </fieldset>
  )
}

function Running({ side, step, stop }: { side: Side | null; step: Step | null; stop(): void }) {
  const label = t.reading(side === null ? null : SIDE_NAMES[side], step && common.bytes(step.done))
  return (
    <div class="differences-running">
      {step?.of ? <Progress label={label} done={step.done} of={step.of} /> : <p>{label}</p>}
      <Button onClick={stop}>{t.cancel}</Button>
    </div>
  )
}

/** The compared statements, and reasons not to rely on them. */
function About({ compared }: { compared: Compared }) {
  const { before, after } = compared
  const [old, fresh] = [before.statement, after.statement]
  const warnings = [
    ...(!old || !fresh ? [t.noProof] : old.proofId !== fresh.proofId ? [t.otherProof] : []),
    ...(old && fresh && old.proofId === fresh.proofId && old.sequence > fresh.sequence ? [t.reversed] : []),
  ]
  const unfit = SIDES.flatMap((side) =>
    compared[side].failed.length > 0 ? [t.unfit(SIDE_NAMES[side], compared[side].failed.join('; '))] : [],
  )
  return (
    <div class="differences-about">
      <p>
        {nameOf(before)} <span aria-hidden="true">→</span> {nameOf(after)}
      </p>
      {warnings.map((warning) => (
        <p key={warning} class="differences-warning">
          {warning}
        </p>
      ))}
      {unfit.map((warning) => (
        <p key={warning} class="differences-warning differences-unfit">
          {warning}
        </p>
      ))}
    </div>
  )
}

function nameOf({ statement }: ComparedSide): string {
  if (!statement) return t.record
  return t.statement(statement.sequence, `${texts.history.time(statement.issuedAt)} ${texts.history.utc}`)
}
