// An admin action: its effects, a reason, then the outcome with its entry in the audit trail.

import { signal, useSignal } from '@preact/signals'
import type { AuditEntry, AuditLog } from '@svc/api/operations'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { texts } from '#texts/admin'
import { RequestFailed } from '../../gateway.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { ask } from './identity.ts'
import { refresh } from './live.ts'
import { Facts, failureText, Notice, OPERATIONS, query, word } from './parts.tsx'

const t = texts.action
const MIN_REASON = 3
const MAX_REASON = 500

export interface Action {
  /** The label of the button that opens the dialog. */
  label: string
  title: string
  confirm: string
  isDangerous?: boolean
  effects: readonly string[]
  /** The target in the audit trail. */
  target: string
  method: 'POST' | 'PUT'
  path: string
  /** The request body besides the reason; a string is the problem with the input. */
  body: () => Record<string, unknown> | string
  /** Additional input fields. */
  fields?: () => ComponentChildren
  /** The outcome as text, from the answer. */
  outcome?: (answer: never) => string
}

type State =
  | { step: 'asking'; problem: string | null }
  | { step: 'sending' }
  | { step: 'done'; message: string; isChanged: boolean; entry: AuditEntry | null }

/** The open action. It outlives its button, which the action may have removed. */
const opened = signal<Action | null>(null)

/** The button of an action; absent for read-only identities, as the side of the page explains. */
export function ActionButton({ action }: { action: Action }) {
  return (
    <Button
      onClick={() => {
        opened.value = action
      }}
    >
      {action.label}
    </Button>
  )
}

/** The dialogs of all actions; rendered once per page. */
export function ActionDialogs() {
  const close = () => {
    opened.value = null
  }
  useEffect(() => close, [])
  return opened.value && <ActionDialog action={opened.value} onClose={close} />
}

function ActionDialog({ action, onClose }: { action: Action; onClose: () => void }) {
  const reason = useSignal('')
  const reasonError = useSignal<string | null>(null)
  const state = useSignal<State>({ step: 'asking', problem: null })
  const send = async () => {
    if (state.value.step !== 'asking') return
    const why = reason.value.trim()
    const body = action.body()
    reasonError.value = why.length < MIN_REASON ? t.reasonShort : null
    if (reasonError.value) return
    if (typeof body === 'string') {
      state.value = { step: 'asking', problem: body }
      return
    }
    state.value = { step: 'sending' }
    try {
      const answer = await ask<{ changed: boolean }>(action.path, action.method, { ...body, reason: why })
      const message = action.outcome?.(answer as never) ?? ''
      state.value = { step: 'done', message, isChanged: answer.changed, entry: await newestEntry(action.target) }
    } catch (error) {
      // The admin has signed out in the meantime.
      if ((error as Error).name === 'AbortError') return
      if (!(error instanceof RequestFailed)) throw error
      state.value = { step: 'asking', problem: error.status === 0 ? t.unknownOutcome : failureText(error) }
    }
    refresh()
  }
  const now = state.value
  const content = useRef<HTMLDivElement>(null)
  // The browser then restores the focus.
  const close = () => content.current?.closest('dialog')?.close()
  return (
    <Dialog title={action.title} onClose={onClose}>
      <div ref={content}>
        {now.step === 'done' ? (
          <div class="stack">
            <Notice tone="good" title={now.isChanged ? t.done : t.unchanged}>
              {now.message}
            </Notice>
            <h3>{t.audit}</h3>
            {now.entry ? <Entry entry={now.entry} /> : <p class="faint">{t.noAudit}</p>}
            <div class="row">
              <Button kind="primary" onClick={close}>
                {t.close}
              </Button>
            </div>
          </div>
        ) : (
          <form
            class="stack"
            onSubmit={(event) => {
              event.preventDefault()
              void send()
            }}
          >
            <section aria-label={t.what}>
              <h3>{t.what}</h3>
              <ul class="effects">
                {action.effects.map((effect) => (
                  <li key={effect}>{effect}</li>
                ))}
              </ul>
            </section>
            {action.fields?.()}
            <Field label={t.reason} hint={t.reasonHint} error={reasonError.value} isRequired>
              {(control) => (
                <textarea
                  {...control}
                  rows={2}
                  maxLength={MAX_REASON}
                  value={reason.value}
                  onInput={(event) => {
                    reason.value = event.currentTarget.value
                    reasonError.value = null
                  }}
                />
              )}
            </Field>
            {now.step === 'asking' && now.problem && (
              <Notice tone="bad" title={t.failed}>
                {now.problem}
              </Notice>
            )}
            <div class="row">
              <button
                type="submit"
                class={`button ${action.isDangerous ? 'button-danger' : 'button-primary'}`}
                aria-busy={now.step === 'sending'}
              >
                {action.confirm}
              </button>
              <Button kind="quiet" onClick={close}>
                {t.cancel}
              </Button>
            </div>
          </form>
        )}
      </div>
    </Dialog>
  )
}

async function newestEntry(target: string): Promise<AuditEntry | null> {
  const log = await ask<AuditLog>(query(`${OPERATIONS}/audit`, { target, limit: 1 })).catch(() => null)
  return log?.entries[0] ?? null
}

function Entry({ entry: { sequence, at, actor, action, outcome, reason } }: { entry: AuditEntry }) {
  const a = texts.audit
  return (
    <Facts
      facts={[
        [a.sequence, String(sequence)],
        [a.at, texts.time(at)],
        [a.actor, actor],
        [a.what, word(a.actions, action)],
        [a.outcome, word(a.outcomes, outcome)],
        [a.reason, reason],
      ]}
    />
  )
}
