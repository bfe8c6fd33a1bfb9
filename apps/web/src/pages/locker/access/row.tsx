import type { AccessEntry } from '@svc/api/access'
import { printable } from '@svc/verifier/untrusted'
import type { ComponentChildren } from 'preact'
import { texts } from '#texts/sharing'
import { publicUrl } from '../../../gateway.ts'
import { Button } from '../../../ui/button.tsx'
import { CopyButton } from '../../../ui/copy.tsx'
import { Filename, plainFilename } from '../../../ui/filename.tsx'
import { Status, type Tone } from '../../../ui/status.tsx'
import type { LockerSession } from '../session.ts'

const t = texts.access

/** The link opens most, and to anyone. */
const TONES: Record<AccessEntry['kind'], Tone> = {
  operator: 'neutral',
  public_link: 'warn',
  share: 'info',
  s3_key: 'neutral',
  upload_session: 'neutral',
}

interface RowProps {
  entry: AccessEntry
  session: LockerSession
  isBusy: boolean
  /** Null if the page cannot end it. */
  onEnd: (() => void) | null
}

export function AccessRow({ entry, session, isBusy, onEnd }: RowProps) {
  const { kind, id, label, path, permissions, created_at, expires_at, last_used_at } = entry
  return (
    <li>
      <div class="access-what">
        <Status tone={TONES[kind]}>{t.kinds[kind]}</Status>
        <b>{path === null ? wholeOf(entry) : <Filename name={path} />}</b>
        {label !== null && <span class="field-hint">{printable(label, 80)}</span>}
      </div>
      <dl class="access-facts">
        <Fact name={t.facts.permissions}>{permissions.map((permission) => t.permissions[permission]).join(', ')}</Fact>
        <Fact name={t.facts.expires}>{expires_at === null ? t.never : t.moment(expires_at)}</Fact>
        {(kind === 'share' || kind === 's3_key') && (
          <Fact name={t.facts.used}>{last_used_at === null ? t.unused : t.moment(last_used_at)}</Fact>
        )}
        {created_at !== null && <Fact name={t.facts.created}>{t.moment(created_at)}</Fact>}
        {entry.created_by !== null && <Fact name={t.facts.by}>{creatorOf(entry.created_by, session)}</Fact>}
        {id !== null && kind !== 'share' && kind !== 'public_link' && (
          <Fact name={t.facts.id}>
            <code>{printable(id, 100)}</code>
          </Fact>
        )}
      </dl>
      <div class="row access-actions">
        {kind === 'share' && id !== null && (
          <CopyButton text={`${publicUrl()}/s/${id}`} what={t.copyShare} label={t.copyLabel} />
        )}
        {onEnd && (
          <Button busy={isBusy} onClick={onEnd} label={t.endLabel(whatOf(entry))}>
            {t.end}
          </Button>
        )}
      </div>
    </li>
  )
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

function wholeOf({ kind, end }: AccessEntry): string {
  if (kind === 'upload_session') return t.ofUpload
  return end?.path.startsWith('/v1/s3/') ? t.allLockers : t.whole
}

export function creatorOf(key: string, { facts, address }: LockerSession): string {
  if (key === facts.value.owner) return t.byOwner
  return key === address ? t.byYou : printable(key, 100)
}

/** The entry in a few words, for its button and the question before it ends. */
export function whatOf(entry: AccessEntry): string {
  const { kind, label, path, id } = entry
  if (kind === 'public_link') return t.kinds[kind]
  const name = path === null ? (label ?? id ?? '') : plainFilename(path)
  return `${t.kinds[kind]} ${printable(name, 100)}`
}
