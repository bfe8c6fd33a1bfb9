// Shares a file or a folder with anyone who has the address of the share. The public link of the locker is offered
// separately, because it opens every file.

import { useSignal } from '@preact/signals'
import { createShare, DEFAULT_SHARE_HOURS, type Share } from '@svc/api/shares'
import { ENCRYPTED_ENDING } from '@svc/sdk'
import { encode } from 'uqr'
import { texts as locker } from '#texts/locker'
import { texts } from '#texts/sharing'
import { urlOf } from '../../../address.ts'
import { Button } from '../../../ui/button.tsx'
import { Copyable } from '../../../ui/copy.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { Field } from '../../../ui/field.tsx'
import { Filename } from '../../../ui/filename.tsx'
import { ProblemNote, useAction } from '../../../ui/problems.tsx'
import type { LockerSession } from '../session.ts'
import { explainFileError } from './problems.ts'

const t = texts.share

/** Null: until it is ended. */
const HOURS = [1, 24, 168, 720, null]
const MAX_LABEL = 64

interface ShareProps {
  session: LockerSession
  /** The name of a file, or a folder with its final slash. */
  path: string
  onClose: () => void
}

export function ShareDialog({ session, path, onClose }: ShareProps) {
  const kind = path.endsWith('/') ? 'folder' : 'file'
  const hours = useSignal<number | null>(DEFAULT_SHARE_HOURS)
  const label = useSignal('')
  const shared = useSignal<Share | null>(null)
  const { isBusy, problem, run } = useAction(explainFileError)
  const make = () =>
    run(async () => {
      const { client, locker } = session
      const named = label.value.trim()
      const body = { path, expires_in_hours: hours.value, ...(named && { label: named }) }
      shared.value = (await client.call(createShare, { params: { locker_id: locker.locker_id }, body })).body
    })
  return (
    <Dialog title={t.title[kind]} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          void make()
        }}
      >
        <p class="dialog-name">
          <Filename name={path} />
        </p>
        <p>{t.opens[kind]}</p>
        <Field label={t.expires} hint={session.kind === 'browser' ? t.byBrowser : t.byKey}>
          {(control) => (
            <select
              {...control}
              value={String(hours.value)}
              onChange={({ currentTarget }) => {
                hours.value = HOURS.find((choice) => String(choice) === currentTarget.value) ?? null
                shared.value = null
              }}
            >
              {HOURS.map((choice) => (
                <option key={choice} value={String(choice)}>
                  {t.hours(choice)}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label={t.label} hint={t.labelHint}>
          {(control) => (
            <input
              {...control}
              maxLength={MAX_LABEL}
              autocomplete="off"
              value={label.value}
              onInput={({ currentTarget }) => {
                label.value = currentTarget.value
                shared.value = null
              }}
            />
          )}
        </Field>
        {path.endsWith(ENCRYPTED_ENDING) && <p class="note">{t.encrypted}</p>}
        {problem && <ProblemNote problem={problem} />}
        {shared.value ? (
          <Made share={shared.value} />
        ) : (
          <div class="row">
            <Button kind="primary" type="submit" busy={isBusy}>
              {t.make}
            </Button>
          </div>
        )}
      </form>
      {kind === 'file' && <PublicLink session={session} filename={path} />}
    </Dialog>
  )
}

function Made({ share: { url, expires_at } }: { share: Share }) {
  return (
    <div class="stack shared-link" role="status">
      <Copyable text={url} what={t.link} />
      <QrCode text={url} />
      <p>{expires_at === null ? t.endless : t.until(expires_at)}</p>
    </div>
  )
}

/** A QR code, dark on light in both themes, because cameras expect that. */
function QrCode({ text }: { text: string }) {
  const { data, size } = encode(text, { border: 2 })
  const path = data.flatMap((line, y) => line.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : []))).join('')
  return (
    <svg class="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={t.qr} shape-rendering="crispEdges">
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  )
}

function PublicLink({ session, filename }: { session: LockerSession; filename: string }) {
  /** Null before it is known; `closed` if there is none. */
  const link = useSignal<string | 'closed' | null>(null)
  const { isBusy, problem, run } = useAction(explainFileError)
  const { public_link, receipt_id } = session.facts.value
  const isReplaced = !!public_link?.id && public_link.id !== receipt_id
  const { openText, replacedText } = locker.people.link
  const show = () =>
    run(async () => {
      const { id } = await session.client.publicLink(session.locker)
      link.value = id === null ? 'closed' : viewerUrl(id, filename)
    })
  return (
    <details class="public-link">
      <summary>{t.public.title}</summary>
      <div class="stack">
        <p>{t.public.text}</p>
        <p>{isReplaced ? replacedText : openText}</p>
        {problem && <ProblemNote problem={problem} />}
        {link.value === 'closed' && <ProblemNote problem={{ ...t.public.closed, code: null }} />}
        {link.value === null && (
          <div class="row">
            <Button busy={isBusy} onClick={() => void show()}>
              {t.public.show}
            </Button>
          </div>
        )}
        {link.value !== null && link.value !== 'closed' && <Copyable text={link.value} what={t.public.link} />}
      </div>
    </details>
  )
}

/** The page that shows a file. */
export function viewerUrl(id: string, filename: string): string {
  return urlOf(`/view/${id}/${filename.split('/').map(encodeURIComponent).join('/')}`)
}
