// The declaration of a tool. Arguments are checked against the same JSON Schema that is listed.

import type { ResourceLink, ToolAnnotations } from '@modelcontextprotocol/sdk/types.js'
import type { Static, TObject, TSchema } from 'typebox'
import Type from 'typebox'
import { Compile } from 'typebox/compile'
import type { Context } from '../context.ts'
import { Refusal } from '../errors.ts'
import { providerIn } from './provider.ts'

/** One call of a tool. */
export interface Call {
  /** Aborts when the client cancels the call. */
  signal: AbortSignal
  /** Reports progress if the client asked for it. */
  progress(done: number, total: number | null, message: string): void
  /** The `_meta` of the request. */
  meta: Readonly<Record<string, unknown>>
}

export interface Outcome<Data> {
  /** A short answer for the model; the fields of `data` follow it. */
  text: string
  data: Data
  /** Files that the client may open. */
  links?: ResourceLink[]
  meta?: Record<string, unknown>
}

interface Declaration<Input extends TObject, Output extends TSchema> {
  name: string
  title: string
  description: string
  annotations: ToolAnnotations
  /** Its errors have `details`, like the gateway's errors for uploads. */
  isUpload?: true
  input: Input
  output: Output
  run(context: Context, input: Static<Input>, call: Call): Promise<Outcome<Static<Output>>>
}

export interface Tool {
  name: string
  title: string
  description: string
  annotations: ToolAnnotations
  isUpload: boolean
  input: TObject
  output: TSchema
  run(context: Context, input: unknown, call: Call): Promise<Outcome<unknown>>
}

export const Overwrite = Type.Optional(
  Type.Boolean({ description: 'False: an existing file of that name stays, and nothing is stored.' }),
)

export function tool<const Input extends TObject, const Output extends TSchema>(
  declaration: Declaration<Input, Output>,
): Tool {
  const { name, input, run } = declaration
  const schema = Compile(input)
  return {
    ...declaration,
    isUpload: declaration.isUpload ?? false,
    async run(context, given, call) {
      const value = withProvider(input, given)
      if (schema.Check(value)) return run(context, value as Static<Input>, call) // as just checked
      const problems = schema.Errors(value).filter(({ keyword }) => keyword !== 'boolean')
      const isReceipt = problems.some(({ instancePath }) => instancePath === '/receipt_id')
      const hint = isReceipt ? RECEIPTS : `${name} takes: ${Object.keys(input.properties).join(', ')}`
      throw new Refusal('bad_arguments', problems.map((problem) => problemText(problem, value)).join('; '), hint)
    },
  }
}

/** Replaces the name of a provider by its id. */
function withProvider({ properties }: TObject, given: unknown): unknown {
  if (!('provider' in properties) || typeof given !== 'object' || given === null || !('provider' in given)) return given
  return { ...given, provider: providerIn(given.provider) }
}

const RECEIPTS =
  '`list_lockers` shows the receipt_id (rcpt_…) of each locker; a locker_id (locker_…) does not work here'

interface Problem {
  keyword: string
  instancePath: string
  message: string
  params: object
}

function problemText({ keyword, instancePath, message, params }: Problem, input: unknown): string {
  const { additionalProperties, allowedValues } = params as {
    additionalProperties?: string[]
    allowedValues?: unknown[]
  }
  if (additionalProperties) return `unknown argument: ${additionalProperties.join(', ')}`
  const at = instancePath.slice(1) || 'the arguments'
  if (allowedValues) return `${at} must be one of ${allowedValues.join(', ')}`
  const given = keyword === 'type' ? (input as Record<string, unknown>)[at] : null
  return `${at} ${message}${typeof given === 'string' ? `, not the string ${JSON.stringify(given)}` : ''}`
}

export const ReceiptId = Type.String({
  pattern: '^rcpt_[0-9a-f]{32}$',
  description: 'Receipt of the locker, as `list_lockers` shows it: rcpt_ and 32 hex digits.',
})

export const Sequence = Type.Optional(
  Type.Integer({ minimum: 1, maximum: 4_294_967_295, description: 'With receipt_id: an older statement.' }),
)

export const Asset = Type.Optional(Type.String({ maxLength: 16, description: 'Ticker to pay with; USDC by default.' }))

/** Accepts upper and lower case, like the gateway and the command line. */
export function tickerOf(asset = 'USDC'): string {
  return asset.toUpperCase()
}

export const ContentType = Type.Optional(
  Type.String({ maxLength: 255, description: 'By default from `filename`; for a `url`, from its answer.' }),
)

export const Intent = (example: string) =>
  Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      pattern: '\\S',
      description: `Name of the purchase, for example "${example}". The same text never pays twice.`,
    }),
  )

/** Rejects undeclared arguments: a misspelled one must not count as omitted. */
export const STRICT = { additionalProperties: false } as const

export const READS = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true } as const

export const DelegationId = Type.String({
  pattern: '^dlg_[0-9a-f]{32}$',
  description: 'As `delegate` or `agent_status` gave it: dlg_ and 32 hex digits.',
})
