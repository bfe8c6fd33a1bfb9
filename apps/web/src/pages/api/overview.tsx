import { useSignal } from '@preact/signals'
import { texts as t } from '#texts/api'
import { urlOf } from '../../address.ts'
import { Button } from '../../ui/button.tsx'
import { Code } from '../../ui/code.tsx'
import { Copyable } from '../../ui/copy.tsx'
import { type Answer, AnswerView, sendRequest } from './attempt.tsx'
import { type Document, groupsOf, type Operation } from './document.ts'
import { KeyPanel } from './key-panel.tsx'
import { Chips, Method, PathText, Prose } from './prose.tsx'
import { baseUrlOf, curlCommand, initialValues, type PreparedRequest, prepare } from './request.ts'

interface OverviewProps {
  document: Document
  operations: readonly Operation[]
}

export function Overview({ document, operations }: OverviewProps) {
  const { info, openapi } = document
  return (
    <>
      <h1 tabIndex={-1}>{info.title}</h1>
      <p class="lead">
        <Prose text={info.description} />
      </p>
      <dl class="facts">
        <div>
          <dt>{t.baseUrl}</dt>
          <dd>
            <Copyable text={baseUrlOf(document)} what={t.baseUrl} />
          </dd>
        </div>
        <div>
          <dt>{t.interface}</dt>
          <dd>{t.version(info.version, operations.length)}</dd>
        </div>
        <div>
          <dt>{t.machines}</dt>
          <dd>
            <a href={urlOf('/openapi.json')}>{t.document(openapi)}</a>
          </dd>
        </div>
      </dl>
      <QuickStart document={document} operations={operations} />
      <Authentication document={document} operations={operations} />
      {[...groupsOf(operations)].map(([name, members]) => (
        <section key={name}>
          <h2>{name}</h2>
          <ul class="index box">
            {members.map((one) => (
              <li key={one.id}>
                <a href={`#${one.id}`}>
                  <Method name={one.method} />
                  <code>
                    <PathText path={one.path} />
                  </code>
                  <span class="about">{one.summary}</span>
                  <Mark operation={one} />
                </a>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </>
  )
}

function Mark({ operation: { schemes } }: { operation: Operation }) {
  const mark = t.auth.marks[schemes[0] ?? '']
  return <span>{mark && <span class="pill">{mark}</span>}</span>
}

/** The steps of a purchase, with examples of the operations. */
function QuickStart({ document, operations }: OverviewProps) {
  const q = t.quickStart
  const answer = useSignal<Answer | null>(null)
  const isBusy = useSignal(false)
  const request = (id: string): PreparedRequest | null => {
    const operation = operations.find((one) => one.id === id)
    return operation ? prepare(operation, initialValues(operation, new URLSearchParams())) : null
  }
  const command = (id: string) => {
    const made = request(id)
    return made ? curlCommand(baseUrlOf(document), made) : ''
  }
  const ask = async () => {
    const quote = request('requestStorage')
    if (!quote) return
    isBusy.value = true
    answer.value = await sendRequest(quote)
    isBusy.value = false
  }
  return (
    <section class="quick-start" aria-label={q.title}>
      <h2>{q.title}</h2>
      <p class="about">{q.lead}</p>
      <ol>
        <li>
          <p>{q.quote}</p>
          <Code title="curl" label={q.step(1)} text={command('requestStorage')} />
          <div class="row">
            <Button kind="primary" busy={isBusy.value} onClick={() => void ask()}>
              {q.run}
            </Button>
          </div>
          <div role="status">{answer.value && <AnswerView answer={answer.value} />}</div>
        </li>
        <li>
          <p>
            <Prose text={q.pay} />
          </p>
        </li>
        <li>
          <p>{q.confirm}</p>
          <Code title="curl" label={q.step(3)} text={command('confirmStorage')} />
        </li>
        <li>
          <p>{q.open}</p>
          <p class="row">
            {['signedProvision', 'createFile', 'attest'].map((id) => (
              <a key={id} class="chip" href={`#${id}`}>
                {id}
              </a>
            ))}
          </p>
          <KeyPanel />
        </li>
        <li>
          <p>{q.verify}</p>
          <Code title="curl" label={q.step(5)} text={command('verify')} />
        </li>
      </ol>
    </section>
  )
}

function Authentication({ document, operations }: OverviewProps) {
  const a = t.auth
  const ops = [...new Set(operations.flatMap((one) => one.ops.flatMap((op) => op.split(' or '))))]
  return (
    <section aria-label={a.title}>
      <h2>{a.title}</h2>
      <p class="about">{a.intro}</p>
      <dl class="box schemes">
        {Object.entries(document.components.securitySchemes).map(([key, { name, description = '' }]) => (
          <div key={key}>
            <dt>
              <b>{a.schemes[key] ?? key}</b> <code>{name ?? 'Authorization: Bearer'}</code>
            </dt>
            <dd>
              <Prose text={description} />
            </dd>
          </div>
        ))}
        {ops.length > 0 && (
          <div>
            <dt>
              <b>{a.ops}</b>
            </dt>
            <dd>
              <Chips values={ops} />
            </dd>
          </div>
        )}
      </dl>
    </section>
  )
}
