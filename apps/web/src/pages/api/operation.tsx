import { type Signal, useSignal } from '@preact/signals'
import { HEADER_ENVELOPE, HEADER_SIGNATURE } from '@svc/protocol/names'
import { texts } from '#texts/api'
import { common } from '#texts/common'
import { urlOf } from '../../address.ts'
import { Code, JsonText } from '../../ui/code.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { Status, toneOf } from '../../ui/status.tsx'
import { Table } from '../../ui/table.tsx'
import { Attempt } from './attempt.tsx'
import { type Document, errorCodes, mediaOf, type Operation, type Response } from './document.ts'
import { signed, signer } from './key.ts'
import { Chips, Method, PathText, Prose } from './prose.tsx'
import { acceptsToken, baseUrlOf, curlCommand, type FormValues, initialValues, prepare } from './request.ts'
import { sample, typeName } from './schema.ts'
import { Rules, SchemaTree } from './schema-tree.tsx'

const t = texts.operation

interface OperationProps {
  document: Document
  operation: Operation
  /** The ids in the link to the operation. */
  given: URLSearchParams
}

export function OperationView({ document, operation, given }: OperationProps) {
  const values = useSignal(initialValues(operation, given))
  const { method, path, summary, parameters, requestBody, responses, group } = operation
  const media = mediaOf(requestBody?.content)
  return (
    <>
      <p class="eyebrow">{group}</p>
      <h1 tabIndex={-1}>{summary}</h1>
      <div class="address">
        <Method name={method} />
        <code>
          <PathText path={path} />
        </code>
        <CopyButton text={location.href} what={t.copyLink} />
      </div>
      <Access operation={operation} />
      <div class="operation">
        <div class="operation-main">
          {parameters.length > 0 && (
            <>
              <h2>{t.parameters}</h2>
              <Table
                caption={t.parameters}
                head={[t.name, t.where, t.type]}
                rows={parameters.map((one) => [
                  <span key="name">
                    <span class="name">{one.name}</span>
                    {one.required && <span class="required">{common.states.required}</span>}
                  </span>,
                  <span key="in" class="type">
                    {one.in}
                  </span>,
                  <span key="type">
                    <span class="type">{typeName(document, one.schema)}</span>
                    <Rules document={document} schema={one.schema} />
                  </span>,
                ])}
              />
            </>
          )}
          {media && (
            <>
              <h2>
                {t.body} <small>{media[0]}</small>
              </h2>
              <div class="box">
                <SchemaTree document={document} schema={media[1].schema} />
              </div>
            </>
          )}
          <h2>{t.responses}</h2>
          {Object.entries(responses)
            .sort(byUse)
            .map(([status, response], i) => (
              <ResponseBox key={status} {...{ document, status, response, summary }} isOpen={i === 0} />
            ))}
        </div>
        <div class="operation-side stack">
          <Command document={document} operation={operation} values={values} />
          <Attempt document={document} operation={operation} values={values} />
          <ExampleAnswer document={document} responses={responses} />
        </div>
      </div>
    </>
  )
}

/** Sorts successes and the price first. */
function byUse([a]: [string, unknown], [b]: [string, unknown]): number {
  const rank = (status: string) => (status === '402' ? 100 : status === 'default' ? 999 : Number(status))
  return rank(a) - rank(b)
}

function Access({ operation: { schemes, ops, isOptional, path } }: { operation: Operation }) {
  const a = texts.auth
  if (schemes.length === 0)
    return (
      <p class="access">
        <b>{a.public}</b> {path.includes('{token}') ? a.pathToken : a.publicText}
      </p>
    )
  const [scheme = ''] = schemes
  return (
    <p class="access">
      <b>{a.schemes[scheme] ?? scheme}</b>
      {isOptional && <span class="pill">{a.optional}</span>}
      {ops.length > 0 && (
        <>
          {' '}
          {a.withOps} <Chips values={ops} />
        </>
      )}
    </p>
  )
}

type CommandProps = Pick<OperationProps, 'document' | 'operation'> & { values: Signal<FormValues> }

/** A command that works when pasted: a signed request is signed when it is copied. */
function Command({ document, operation, values }: CommandProps) {
  const baseUrl = baseUrlOf(document)
  const by = signer.value
  const needsSignature = operation.schemes.includes('envelope') && (by !== null || !operation.isOptional)
  // Do not show the visitor's token.
  const token = acceptsToken(operation) ? 'TOKEN' : ''
  const bytes = values.value.bytes ?? (isBytesOnly(operation) ? new Uint8Array() : null)
  const request = prepare(operation, { ...values.value, bytes, token })
  const placeholders = needsSignature ? { [HEADER_ENVELOPE]: '…', [HEADER_SIGNATURE]: '…' } : {}
  const text = curlCommand(baseUrl, { ...request, headers: { ...request.headers, ...placeholders } })
  const note = needsSignature ? (by ? t.freshSignature : t.needsKey) : acceptsToken(operation) ? t.needsToken : null
  const copied = async () => curlCommand(baseUrl, await signed(operation, values.value, by!))
  return (
    <div>
      <Code title="curl" label={t.command} text={text} {...(needsSignature && by && { copied })} />
      {note && <p class="field-hint">{note}</p>}
    </div>
  )
}

function ExampleAnswer({ document, responses }: { document: Document; responses: Record<string, Response> }) {
  const found = Object.entries(responses)
    .sort(byUse)
    .find(([, response]) => mediaOf(response.content)?.[0].includes('json'))
  if (!found || found[0] === 'default') return null
  const text = JSON.stringify(sample(document, mediaOf(found[1].content)![1].schema), null, 2)
  const title = (
    <>
      {t.example} <Status tone={toneOf(Number(found[0]))}>{found[0]}</Status>
    </>
  )
  return (
    <Code title={title} label={t.example} text={text}>
      <JsonText text={text} />
    </Code>
  )
}

interface ResponseProps {
  document: Document
  status: string
  response: Response
  summary: string
  isOpen: boolean
}

function ResponseBox({ document, status, response, summary, isOpen }: ResponseProps) {
  const media = mediaOf(response.content)
  const codes = errorCodes(response)
  const isShown = useSignal(isOpen)
  const headers = Object.entries(response.headers ?? {}).map(([name, { schema }]) => `${name}: ${schema.const ?? ''}`)
  const text = response.description === summary ? '' : response.description
  return (
    <details
      class="box response"
      open={isShown.value}
      onToggle={(event) => {
        isShown.value = event.currentTarget.open
      }}
    >
      <summary>
        <Status tone={status === 'default' ? 'neutral' : toneOf(Number(status))}>{status}</Status>
        <span>{codes.length > 0 ? <Chips values={codes} /> : <Prose text={text} />}</span>
      </summary>
      {isShown.value && (
        <>
          {codes.length > 0 && (
            <ul class="links">
              {codes.map((code) => (
                <li key={code}>
                  <a href={urlOf(`/errors/${code}`)}>{t.explain(code)}</a>
                </li>
              ))}
            </ul>
          )}
          <p class="response-meta">
            {[media?.[0] ?? t.noBody, ...headers].map((one) => (
              <code key={one}>{one}</code>
            ))}
          </p>
          {media && <SchemaTree document={document} schema={media[1].schema} />}
        </>
      )}
    </details>
  )
}

/** Whether the body is a file only. */
function isBytesOnly({ requestBody }: Operation): boolean {
  return requestBody !== undefined && !mediaOf(requestBody.content)?.[0].includes('json')
}
