// The advice for facts that were not checked.

import { LOG_FACTS, ONLINE_FACTS } from '@svc/verifier/facts'
import { texts } from '#texts/verify'
import type { CheckedBundle } from './worker/messages.ts'

const t = texts.advice

interface Advice {
  text: string
  /** The part of the page where the visitor can do it; null if there is none. */
  href: string | null
}

export function adviceFor(name: string, { anchor, envelope, redacted, facts, key }: CheckedBundle): Advice {
  if (name === 'key_pinned' && key?.pinned) return { text: t.statement, href: null }
  if (name === 'key_pinned' || name === 'receipt_key_pinned') return { text: t.keys, href: '#keys' }
  if (name === 'receipt_is_of_bundle' && envelope) return { text: t.keys, href: '#keys' }
  if (name === 'files_match') return { text: t.files, href: '#files' }
  if ((ONLINE_FACTS as readonly string[]).includes(name)) return onlineAdvice(name, anchor !== null, facts)
  if ((LOG_FACTS as readonly string[]).includes(name)) return logAdvice(name, facts)
  if (redacted?.redaction === 'no_names') return { text: t.noNames, href: '#files' }
  if (redacted) return { text: t.chosenFiles, href: null }
  return { text: envelope ? t.nothing : t.statement, href: null }
}

function logAdvice(name: string, facts: CheckedBundle['facts']): Advice {
  return facts[name]?.value === 'unavailable' ? { text: t.otherNode, href: '#node' } : { text: t.log, href: null }
}

function onlineAdvice(name: string, hasAnchor: boolean, facts: CheckedBundle['facts']): Advice {
  if (!hasAnchor) return { text: t.anchor, href: null }
  if (facts[name]?.value === 'unavailable') return { text: t.otherNode, href: '#node' }
  const wasAsked = facts.anchor_tx_succeeded?.value === 'passed'
  if (!wasAsked) return { text: t.node, href: '#node' }
  return name === 'anchor_finalized' ? { text: t.wait, href: '#node' } : { text: t.nothing, href: null }
}
