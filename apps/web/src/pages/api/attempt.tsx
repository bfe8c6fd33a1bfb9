// Sends an operation to the gateway that this page came from, and shows what it answers.

import { type Signal, useSignal } from '@preact/signals'
import { texts } from '#texts/api'
import { urlOf } from '../../address.ts'
import { Button } from '../../ui/button.tsx'
import { Code, JsonText } from '../../ui/code.tsx'
import { Field } from '../../ui/field.tsx'
import { Status, toneOf } from '../../ui/status.tsx'
import { aboutParameter, type Document, mediaOf, type Operation, type Parameter } from './document.ts'
import { isOfWallet, signed, signer } from './key.ts'
import { KeyPanel } from './key-panel.tsx'
import { Prose } from './prose.tsx'
import { acceptsToken, type FormValues, type PreparedRequest, prepare } from './request.ts'
import { resolve } from './schema.ts'

const t = texts.attempt

interface AttemptProps {
  document: Document
  operation: Operation
  values: Signal<FormValues>
}

export function Attempt({ document, operation, values }: AttemptProps) {
  const answer = useSignal<Answer | null>(null)
  const isBusy = useSignal(false)
  const problem = jsonProblem(values.value.body)
  const isSigned = operation.schemes.includes('envelope')
  const by = signer.value
  const canSend = !problem && (!isSigned || operation.isOptional || by !== null)
  const change = (changes: Partial<FormValues>) => {
    values.value = { ...values.value, ...changes }
  }
  const send = async () => {
    isBusy.value = true
    const request = isSigned && by ? await signed(operation, values.value, by) : prepare(operation, values.value)
    answer.value = await sendRequest(request)
    isBusy.value = false
  }
  const media = mediaOf(operation.requestBody?.content)
  const takesBytes = 'application/octet-stream' in (operation.requestBody?.content ?? {})
  return (
    <section class="box attempt" aria-label={t.title}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          void send()
        }}
      >
        <h2>{t.title}</h2>
        {isSigned && <KeyPanel />}
        {operation.parameters.map((one) => (
          <ParameterField
            key={one.name}
            document={document}
            parameter={one}
            value={values.value.parameters[one.name] ?? ''}
            onChange={(text) => change({ parameters: { ...values.value.parameters, [one.name]: text } })}
          />
        ))}
        {isSigned && needsReceipt(operation) && (
          <TextField
            label={t.receiptForEnvelope}
            hint={t.receiptHint}
            value={values.value.receiptId}
            onChange={(receiptId) => change({ receiptId })}
          />
        )}
        {acceptsToken(operation) && (
          <TextField label={t.token} isSecret value={values.value.token} onChange={(token) => change({ token })} />
        )}
        {media?.[0].includes('json') && (
          <Field label={t.json} error={problem}>
            {(control) => (
              <textarea
                {...control}
                rows={Math.min(12, values.value.body.split('\n').length + 1)}
                spellcheck={false}
                value={values.value.body}
                onInput={(event) => change({ body: event.currentTarget.value })}
              />
            )}
          </Field>
        )}
        {takesBytes && (
          <Field label={t.bytes}>
            {(control) => (
              <input
                {...control}
                type="file"
                onChange={async (event) => {
                  const file = event.currentTarget.files?.[0]
                  change({ bytes: file ? new Uint8Array(await file.arrayBuffer()) : null })
                }}
              />
            )}
          </Field>
        )}
        <div>
          <Button kind="primary" type="submit" busy={isBusy.value} disabled={!canSend}>
            {isSigned && by ? t.signAndSend : t.send}
          </Button>
        </div>
      </form>
      <div role="status">{answer.value && <AnswerView answer={answer.value} />}</div>
    </section>
  )
}

/** Whether the form asks for the receipt: most signed operations name it only in the envelope. */
function needsReceipt(operation: Operation): boolean {
  const { parameters, requestBody } = operation
  if (isOfWallet(operation)) return false
  const example = mediaOf(requestBody?.content)?.[1].example
  return !parameters.some(({ name }) => name === 'receipt_id') && !('receipt_id' in ((example ?? {}) as object))
}

function jsonProblem(text: string): string | null {
  try {
    if (text.trim()) JSON.parse(text)
    return null
  } catch (error) {
    return t.notJson((error as Error).message)
  }
}

interface TextFieldProps {
  label: string
  hint?: string
  isSecret?: boolean
  value: string
  onChange: (text: string) => void
}

function TextField({ label, hint, isSecret, value, onChange }: TextFieldProps) {
  return (
    <Field label={label} hint={hint}>
      {(control) => (
        <input
          {...control}
          {...(isSecret ? ({ type: 'password' } as const) : ({ type: 'text' } as const))}
          autocomplete="off"
          spellcheck={false}
          value={value}
          onInput={(event) => onChange(event.currentTarget.value)}
        />
      )}
    </Field>
  )
}

interface ParameterProps {
  document: Document
  parameter: Parameter
  value: string
  onChange: (text: string) => void
}

function ParameterField({ document, parameter, value, onChange }: ParameterProps) {
  const { schema } = resolve(document, parameter.schema)
  const words = schema.enum ?? (schema.type === 'boolean' ? [true, false] : null)
  return (
    <Field
      label={<code>{parameter.name}</code>}
      isRequired={parameter.required}
      hint={<Prose text={aboutParameter(document, parameter) ?? ''} />}
    >
      {(control) =>
        words ? (
          <select {...control} onChange={(event) => onChange(event.currentTarget.value)}>
            <option value="">{t.notSet}</option>
            {words.map((word) => (
              <option key={String(word)} selected={String(word) === value}>
                {String(word)}
              </option>
            ))}
          </select>
        ) : (
          <input
            {...control}
            class="mono"
            required={parameter.required}
            autocomplete="off"
            spellcheck={false}
            value={value}
            onInput={(event) => onChange(event.currentTarget.value)}
          />
        )
      }
    </Field>
  )
}

export type Answer =
  | { status: number; statusText: string; ms: number; headers: [name: string, value: string][]; text: string }
  | { problem: string }

const SHOWN_HEADERS = /^(content-(type|length|range)|cache-control|etag|location|retry-after|payment-.*|x-request-id)$/
const MAX_SHOWN = 200_000

/** Sends the request to the origin of this page, not to the base URL in the description. */
export async function sendRequest({ method, target, headers, body }: PreparedRequest): Promise<Answer> {
  const start = performance.now()
  try {
    const response = await fetch(urlOf(target), {
      method,
      headers,
      body: body as BodyInit | null,
      cache: 'no-store',
      credentials: 'omit',
      redirect: 'manual',
      signal: AbortSignal.timeout(30_000),
    })
    if (response.type === 'opaqueredirect') return { problem: t.redirect }
    const { status, statusText } = response
    const ms = Math.round(performance.now() - start)
    const text = await shownBody(response)
    return { status, statusText, ms, headers: [...response.headers].filter(([name]) => SHOWN_HEADERS.test(name)), text }
  } catch (error) {
    return { problem: t.none((error as Error).message) }
  }
}

async function shownBody(response: Response): Promise<string> {
  const type = response.headers.get('content-type') ?? ''
  const bytes = await response.blob()
  if (!/json|text|xml/.test(type)) return t.bytesAnswer(bytes.size)
  const text = await bytes.text()
  if (!type.includes('json') || !text) return text.slice(0, MAX_SHOWN)
  return JSON.stringify(JSON.parse(text), null, 2).slice(0, MAX_SHOWN)
}

export function AnswerView({ answer }: { answer: Answer }) {
  if ('problem' in answer) return <p class="field-error">{answer.problem}</p>
  const { status, statusText, ms, headers, text } = answer
  const title = (
    <>
      <Status tone={toneOf(status)}>
        {status} {statusText}
      </Status>{' '}
      {t.milliseconds(ms)}
    </>
  )
  return (
    <div class="stack answer">
      {status === 402 && <p class="about">{t.quoteFirst}</p>}
      <Code title={title} label={t.answer} text={text}>
        <span class="answer-headers">{headers.map(([name, value]) => `${name}: ${short(value)}\n`).join('')}</span>
        {'\n'}
        <JsonText text={text} />
      </Code>
    </div>
  )
}

/** Shortens a header value: the quote is also sent as a base64 header. */
function short(value: string): string {
  return value.length > MAX_HEADER ? `${value.slice(0, MAX_HEADER)}…` : value
}

const MAX_HEADER = 80
