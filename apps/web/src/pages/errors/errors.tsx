// The error codes: a list, and a page for each.

import { useSignal } from '@preact/signals'
import { ERROR_GUIDE } from '@svc/api/error-guide'
import { ERROR_STATUS, type ErrorCode } from '@svc/api/errors'
import { useEffect } from 'preact/hooks'
import { texts as t } from '#texts/errors'
import { texts as frame } from '#texts/frame'
import { urlOf } from '../../address.ts'
import { Field } from '../../ui/field.tsx'
import { Empty } from '../../ui/states.tsx'
import { Prose } from '../api/prose.tsx'
import './errors.css'

const CODES = Object.keys(ERROR_GUIDE) as ErrorCode[]

export default function Errors({ params }: { params: Readonly<Record<string, string>> }) {
  const { code } = params
  useEffect(() => {
    document.title = `${code ?? t.title} · ${frame.name}`
  }, [code])
  return <div class="wide errors">{code === undefined ? <List /> : <Explained code={code} />}</div>
}

function List() {
  const search = useSignal('')
  const wanted = search.value.trim().toLowerCase()
  const shown = CODES.filter((code) =>
    [code, ERROR_GUIDE[code].cause].some((text) => text.toLowerCase().includes(wanted)),
  )
  return (
    <>
      <h1>{t.title}</h1>
      <p class="soft">{t.lead}</p>
      <Field label={t.search} hint={<span role="status">{t.found(shown.length)}</span>}>
        {(control) => (
          <input
            {...control}
            type="search"
            autocomplete="off"
            spellcheck={false}
            value={search.value}
            onInput={(event) => {
              search.value = event.currentTarget.value
            }}
          />
        )}
      </Field>
      <ul class="error-list">
        {shown.map((code) => (
          <li key={code}>
            <a href={urlOf(`/errors/${code}`)}>
              <code>{code}</code>
            </a>
            <span class="soft">{t.status(ERROR_STATUS[code])}</span>
            <p>
              <Prose text={ERROR_GUIDE[code].cause} />
            </p>
          </li>
        ))}
      </ul>
    </>
  )
}

function Explained({ code }: { code: string }) {
  const known = CODES.find((one) => one === code)
  const all = <a href={urlOf('/errors')}>{t.all}</a>
  if (!known)
    return (
      <Empty title={t.unknown} text={t.unknownText} isPage>
        {all}
      </Empty>
    )
  return (
    <>
      <h1>
        <code>{known}</code>
      </h1>
      <p class="soft">{t.status(ERROR_STATUS[known])}</p>
      <section class="card">
        <dl class="error-guide">
          <dt>{t.cause}</dt>
          <dd>
            <Prose text={ERROR_GUIDE[known].cause} />
          </dd>
          <dt>{t.next}</dt>
          <dd>
            <Prose text={ERROR_GUIDE[known].next} />
          </dd>
        </dl>
      </section>
      <p>{all}</p>
    </>
  )
}
