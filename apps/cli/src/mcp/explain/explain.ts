import { adviceOn, TOOL_ADVICE } from '@svc/api/error-advice'
import { ERROR_GUIDE } from '@svc/api/error-guide'
import { ERROR_STATUS, type ErrorCode } from '@svc/api/errors'
import Type from 'typebox'
import { READS, STRICT, tool } from '../tools/tool.ts'
import { FACT_MEANINGS, FACT_VALUES, RECEIPT_FACT_MEANINGS } from './facts.ts'
import { SERVER_CODES, TOPICS } from './topics.ts'

const Explanation = Type.Object({
  about: Type.String(),
  kind: Type.Enum(['topic', 'code', 'fact', 'unknown']),
  means: Type.String(),
  next: Type.Union([Type.String(), Type.Null()], { description: 'What to do next.' }),
})

export const explain = tool({
  name: 'explain',
  title: 'Explain a word or code',
  description: 'Explains a word, an error code or a fact of `verify`, and what to do next. Makes no request.',
  annotations: { ...READS, openWorldHint: false },
  input: Type.Object(
    {
      about: Type.String({
        minLength: 1,
        maxLength: 100,
        description: `A code, a fact, or one of: ${Object.keys(TOPICS).join(', ')}.`,
      }),
    },
    STRICT,
  ),
  output: Explanation,
  async run(_, { about }) {
    const found = find(about.trim())
    const next = found.next === null ? '' : ` Next: ${found.next.replace(/\.$/, '')}.`
    return { text: `${found.means}${next}`, data: { about, ...found } }
  },
})

const ALL_FACTS: Record<string, string> = { ...FACT_MEANINGS, ...RECEIPT_FACT_MEANINGS }

function namesIn(table: object): string {
  return Object.keys(table).join(', ')
}

function find(about: string) {
  const word = about.toLowerCase()
  const topic = entryOf(TOPICS, word)
  if (topic) return { kind: 'topic', means: topic, next: null } as const
  const fact = entryOf(ALL_FACTS, word)
  if (fact) return { kind: 'fact', means: `${fact} ${FACT_VALUES}`, next: null } as const
  const here = entryOf(SERVER_CODES, word)
  if (here) return { kind: 'code', ...here } as const
  const codes = Object.keys(ERROR_GUIDE) as ErrorCode[]
  const code = codes.find((name) => name.toLowerCase() === word)
  if (!code)
    return {
      kind: 'unknown',
      means: `This word is not known. Words: ${namesIn(TOPICS)}. Facts: ${namesIn(ALL_FACTS)}. Codes of this server: ${namesIn(SERVER_CODES)}.`,
      next: null,
    } as const
  const { cause, next } = ERROR_GUIDE[code]
  const means = `HTTP ${ERROR_STATUS[code]}: ${cause}`
  return { kind: 'code', means, next: adviceOn(TOOL_ADVICE, code) ?? next } as const
}

/** Ignores inherited properties such as `toString`. */
function entryOf<T>(table: Readonly<Record<string, T>>, word: string): T | null {
  return Object.hasOwn(table, word) ? (table[word] as T) : null
}
