// Keys for other programs: S3 clients and tus clients. A secret is shown once.

import { useSignal } from '@preact/signals'
import type { NewS3Key, S3Key, TusToken } from '@svc/sdk'
import { printable } from '@svc/verifier/untrusted'
import { texts } from '#texts/locker'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { Copyable } from '../../ui/copy.tsx'
import { Field } from '../../ui/field.tsx'
import { ProblemNote, useAction } from '../../ui/problems.tsx'
import { Table } from '../../ui/table.tsx'
import { Term } from '../../ui/term.tsx'
import { TextField } from '../../ui/text-field.tsx'
import { toast } from '../../ui/toast.tsx'
import type { LockerSession } from './session.ts'

const t = texts.programs

const DAYS = [7, 30, 90, 365]
const MINUTES = [15, 60, 1440]

export function ProgramKeys({ session }: { session: LockerSession }) {
  return (
    <>
      <S3Keys session={session} />
      <TusTokens session={session} />
    </>
  )
}

function S3Keys({ session }: { session: LockerSession }) {
  const { locker } = session
  /** Null before the owner has asked for them. */
  const keys = useSignal<readonly S3Key[] | null>(null)
  const created = useSignal<NewS3Key | null>(null)
  const revoking = useSignal<S3Key | null>(null)
  const { isBusy, problem, run } = useAction()
  const list = () =>
    run(async () => {
      const owner = await session.asOwner()
      if (owner) keys.value = await owner.client.s3Keys(locker)
    })
  const revoke = ({ access_key_id }: S3Key) =>
    run(async () => {
      const owner = await session.asOwner()
      if (!owner) return
      await owner.client.revokeS3Key(locker, access_key_id)
      keys.value = keys.value?.filter((key) => key.access_key_id !== access_key_id) ?? null
      if (created.value?.access_key_id === access_key_id) created.value = null
      toast(t.revoked)
    })
  const add = (key: NewS3Key) => {
    created.value = key
    // Without the others, the list would look complete.
    if (keys.value) keys.value = [...keys.value, key]
  }
  const { value } = keys
  return (
    <Card title={t.s3.title}>
      <div class="stack">
        <p class="soft">{t.s3.text}</p>
        {created.value && <NewKey created={created.value} />}
        {value === null ? (
          <div class="row">
            <Button busy={isBusy} onClick={() => void list()}>
              {t.s3.list}
            </Button>
            <span class="field-hint">{t.ownerSigns}</span>
          </div>
        ) : value.length === 0 ? (
          <p>{t.s3.none}</p>
        ) : (
          <Table
            caption={t.s3.caption}
            head={[t.name, t.access, t.folder, t.expires, t.used, t.actions]}
            rows={value.map((key) => [
              printable(key.name, 64),
              t.accesses[key.access],
              key.prefix || t.everything,
              texts.date(key.expires_at),
              key.last_used_at === null ? t.never : texts.date(key.last_used_at),
              <Button key="revoke" kind="quiet" busy={isBusy} onClick={() => (revoking.value = key)}>
                {t.revoke}
              </Button>,
            ])}
          />
        )}
        {problem && <ProblemNote problem={problem} />}
        <KeyForm session={session} onCreated={add} />
      </div>
      {revoking.value && (
        <Confirm
          title={t.revokeTitle}
          text={t.revokeText}
          detail={printable(revoking.value.name, 64)}
          action={t.revoke}
          onAnswer={(isSure) => {
            const key = revoking.value
            revoking.value = null
            if (isSure && key) void revoke(key)
          }}
        />
      )}
    </Card>
  )
}

function NewKey({ created }: { created: NewS3Key }) {
  const rows = [
    [t.s3.endpoint, created.endpoint],
    [t.s3.region, created.region],
    [t.s3.bucket, created.bucket],
    [t.s3.id, created.access_key_id],
    [t.s3.secret, created.secret_access_key],
  ] as const
  return (
    <div class="note" role="status">
      <b>{t.once}</b>
      <dl class="about">
        {rows.map(([name, value]) => (
          <Term key={name} name={name}>
            <Copyable text={value} what={name} />
          </Term>
        ))}
      </dl>
    </div>
  )
}

function KeyForm({ session, onCreated }: { session: LockerSession; onCreated: (key: NewS3Key) => void }) {
  const name = useSignal('')
  const folder = useSignal('')
  const access = useSignal<'read' | 'write'>('read')
  const days = useSignal(30)
  const { isBusy, problem, run } = useAction()
  const create = (event: Event) => {
    event.preventDefault()
    void run(async () => {
      const owner = await session.asOwner()
      if (!owner) return
      const prefix = withSlash(folder.value)
      const order = { name: name.value.trim(), access: access.value, days: days.value, ...(prefix && { prefix }) }
      onCreated(await owner.client.createS3Key(session.locker, order))
      name.value = ''
    })
  }
  return (
    <form class="program-form" aria-label={t.s3.add} onSubmit={create}>
      <TextField label={t.s3.name} hint={t.s3.nameHint} text={name} />
      <TextField label={t.onlyFolder} hint={t.folderHint} text={folder} />
      <Field label={t.access}>
        {(control) => (
          <select
            {...control}
            onChange={(event) => {
              access.value = event.currentTarget.value as 'read' | 'write' // its options
            }}
          >
            <option value="read">{t.accesses.read}</option>
            <option value="write">{t.accesses.write}</option>
          </select>
        )}
      </Field>
      <Choice label={t.validFor} values={DAYS} chosen={days} words={t.days} />
      <div class="row">
        <Button type="submit" busy={isBusy} disabled={name.value.trim() === ''}>
          {t.s3.add}
        </Button>
        <span class="field-hint">{t.ownerSigns}</span>
      </div>
      {problem && <ProblemNote problem={problem} />}
    </form>
  )
}

interface ChoiceProps {
  label: string
  values: readonly number[]
  chosen: { value: number }
  words: (value: number) => string
}

function Choice({ label, values, chosen, words }: ChoiceProps) {
  return (
    <Field label={label}>
      {(control) => (
        <select
          {...control}
          onChange={(event) => {
            chosen.value = Number(event.currentTarget.value)
          }}
        >
          {values.map((value) => (
            <option key={value} value={value} selected={value === chosen.value}>
              {words(value)}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

function TusTokens({ session }: { session: LockerSession }) {
  const folder = useSignal('')
  const minutes = useSignal(60)
  const created = useSignal<TusToken | null>(null)
  const { isBusy, problem, run } = useAction()
  const create = (event: Event) => {
    event.preventDefault()
    void run(async () => {
      const prefix = withSlash(folder.value)
      const order = { ttl_min: minutes.value, ...(prefix && { prefix }) }
      created.value = await session.client.tusToken(session.locker, order)
    })
  }
  const { value } = created
  return (
    <Card title={t.tus.title}>
      <form class="program-form" aria-label={t.tus.add} onSubmit={create}>
        <p class="soft">{t.tus.text}</p>
        {value && (
          <div class="note" role="status">
            <b>{t.once}</b>
            <dl class="about">
              <Term name={t.tus.endpoint}>
                <Copyable text={value.tus_endpoint} what={t.tus.endpoint} />
              </Term>
              <Term name="X-Upload-Token">
                <Copyable text={value.headers['X-Upload-Token']} what="X-Upload-Token" />
              </Term>
              <Term name={t.expires}>{texts.moment(value.expires_at)}</Term>
            </dl>
          </div>
        )}
        <TextField label={t.onlyFolder} hint={t.tus.folderHint} text={folder} />
        <Choice label={t.validFor} values={MINUTES} chosen={minutes} words={t.minutes} />
        <div class="row">
          <Button type="submit" busy={isBusy}>
            {t.tus.add}
          </Button>
        </div>
        {problem && <ProblemNote problem={problem} />}
      </form>
    </Card>
  )
}

/** A folder as programs name it; empty for the whole locker. */
function withSlash(folder: string): string {
  const path = folder.trim().replace(/^\/+|\/+$/g, '')
  return path && `${path}/`
}
