// A link to a file for anyone who has it: for a limited time, or through the public link of the locker.

import { useSignal } from '@preact/signals'
import type { FileEntry } from '@svc/api/file-entries'
import { ENCRYPTED_ENDING } from '@svc/sdk'
import { encode } from 'uqr'
import { texts as t } from '#texts/files'
import { texts as locker } from '#texts/locker'
import { urlOf } from '../../../address.ts'
import { Button } from '../../../ui/button.tsx'
import { Copyable } from '../../../ui/copy.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { Field } from '../../../ui/field.tsx'
import { Filename } from '../../../ui/filename.tsx'
import { type Problem, ProblemNote } from '../../../ui/problems.tsx'
import type { LockerSession } from '../session.ts'
import { shortUrl } from './download.ts'
import { explainFileError } from './problems.ts'

const MINUTES = [15, 60, 360, 1440]
const PUBLIC = 'public'

interface Shared {
  url: string
  /** Null for the public link. */
  until: number | null
}

export function ShareDialog({
  session,
  file,
  onClose,
}: {
  session: LockerSession
  file: FileEntry
  onClose: () => void
}) {
  const choice = useSignal('60')
  const shared = useSignal<Shared | null>(null)
  const problem = useSignal<Problem | null>(null)
  const isBusy = useSignal(false)
  const make = async () => {
    isBusy.value = true
    problem.value = null
    try {
      shared.value = await (choice.value === PUBLIC
        ? byPublicLink(session, file)
        : forAWhile(session, file, Number(choice.value)))
    } catch (error) {
      problem.value = error instanceof LinkClosed ? { ...t.share.closed, code: null } : explainFileError(error)
    }
    isBusy.value = false
  }
  const { public_link, receipt_id } = session.facts.value
  const isReplaced = !!public_link?.id && public_link.id !== receipt_id
  const { openText, replacedText } = locker.people.link
  const publicHint = isReplaced ? replacedText : openText
  return (
    <Dialog title={t.share.title} onClose={onClose}>
      <div class="stack">
        <p class="dialog-name">
          <Filename name={file.filename} />
        </p>
        <Field label={t.share.expires} hint={choice.value === PUBLIC ? publicHint : t.share.hint}>
          {(control) => (
            <select
              {...control}
              value={choice.value}
              onChange={(event) => {
                choice.value = event.currentTarget.value
                shared.value = null
              }}
            >
              {MINUTES.map((minutes) => (
                <option key={minutes} value={String(minutes)}>
                  {t.share.minutes(minutes)}
                </option>
              ))}
              <option value={PUBLIC}>{t.share.public}</option>
            </select>
          )}
        </Field>
        {file.filename.endsWith(ENCRYPTED_ENDING) && <p class="note">{t.share.encrypted}</p>}
        {problem.value && <ProblemNote problem={problem.value} />}
        {shared.value ? (
          <SharedLink {...shared.value} />
        ) : (
          <div class="row">
            <Button kind="primary" busy={isBusy.value} onClick={() => void make()}>
              {t.share.make}
            </Button>
          </div>
        )}
      </div>
    </Dialog>
  )
}

function SharedLink({ url, until }: Shared) {
  return (
    <div class="stack shared-link" role="status">
      <Copyable text={url} what={t.share.link} />
      <QrCode text={url} />
      <p>{until === null ? t.share.endless : t.share.until(until)}</p>
    </div>
  )
}

/** A QR code, dark on light in both themes, because cameras expect that. */
function QrCode({ text }: { text: string }) {
  const { data, size } = encode(text, { border: 2 })
  const path = data.flatMap((line, y) => line.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : []))).join('')
  return (
    <svg class="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={t.share.qr} shape-rendering="crispEdges">
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  )
}

async function forAWhile({ client, locker }: LockerSession, { filename }: FileEntry, minutes: number): Promise<Shared> {
  return { url: await shortUrl(client, locker.locker_id, filename, minutes), until: Date.now() + minutes * 60_000 }
}

async function byPublicLink({ client, locker }: LockerSession, { filename }: FileEntry): Promise<Shared> {
  const { id } = await client.publicLink(locker)
  if (id === null) throw new LinkClosed()
  return { url: viewerUrl(id, filename), until: null }
}

class LinkClosed extends Error {
  override name = 'LinkClosed'
}

/** The page that shows a file. */
export function viewerUrl(id: string, filename: string): string {
  return urlOf(`/view/${id}/${filename.split('/').map(encodeURIComponent).join('/')}`)
}
