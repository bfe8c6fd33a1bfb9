// Errors of the agent service as texts; errors of the gateway have the texts of the locker page.

import { GatewayError, NoAnswer, NotSubscribed } from '@svc/sdk/errors'
import { texts } from '#texts/agent'
import { explain, type Problem } from '../../ui/problems.tsx'

const t = texts.problems

const BY_CODE: Readonly<Record<string, readonly string[]>> = {
  DELEGATION_LIMIT_EXCEEDED: t.limit,
  gateway_unavailable: t.gateway,
  OWNER_IDENTITY_MISMATCH: t.badSignature,
}

export function explainAgent(error: unknown): Problem {
  const [title, text] = wordsFor(error) ?? []
  if (title === undefined || text === undefined) return explain(error)
  return { title, text, code: error instanceof GatewayError ? error.code : null }
}

function wordsFor(error: unknown): readonly string[] | null {
  if (error instanceof NotSubscribed) return t.notSubscribed
  if (error instanceof NoAnswer && error.service === 'agent service') return t.noAnswer
  if (error instanceof GatewayError && Object.hasOwn(BY_CODE, error.code)) return BY_CODE[error.code] ?? null
  if (error instanceof DOMException && error.name === 'QuotaExceededError') return t.storage
  return null
}
