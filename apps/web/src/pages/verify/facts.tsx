import { isoSeconds } from '@svc/protocol/evidence'
import { LOG_FACTS, RECEIPT_FACTS, REDACTED_FACTS } from '@svc/verifier/facts'
import { useEffect, useRef } from 'preact/hooks'
import { texts as t } from '#texts/verify'
import { Icon } from '../../ui/icons.tsx'
import { Status, type Tone } from '../../ui/status.tsx'
import { shownValue } from './shown.tsx'
import type { CheckedBundle } from './worker/messages.ts'

const GROUPS: readonly [title: string, names: readonly string[]][] = [
  [
    t.groups.bundle,
    ['merkle_root_matches', 'statement_digest_matches', 'envelope_binds_commitment', ...REDACTED_FACTS, 'files_match'],
  ],
  [t.groups.signer, ['signature_valid', 'key_pinned']],
  [
    t.groups.chain,
    [
      'anchor_tx_succeeded',
      'anchor_payload_matches',
      'anchor_signer_matches',
      'anchor_slot_matches',
      'anchor_finalized',
      'registry_matches',
    ],
  ],
  [t.groups.log, LOG_FACTS],
  [t.groups.receipt, RECEIPT_FACTS],
]

interface FactsProps {
  bundle: CheckedBundle
  isBusy: boolean
  /** The address of the statement in the gateway's log; null for bundles from other sources. */
  logUrl: string | null
}

export function Facts({ bundle, isBusy, logUrl }: FactsProps) {
  const fold = useRef<HTMLDetailsElement>(null)
  useEffect(() => {
    const open = () => {
      if (fold.current) fold.current.open = true
    }
    addEventListener('beforeprint', open)
    return () => removeEventListener('beforeprint', open)
  }, [])
  const counts = Object.entries(Object.groupBy(Object.values(bundle.facts), ({ value }) => value))
  return (
    <details ref={fold} class="card fold">
      <summary>
        <h2>{t.fact.all}</h2>
        <span class="row">
          {counts.map(([value, facts = []]) => (
            <Status key={value} tone={TONES[value] ?? 'neutral'}>
              {t.fact.count(facts.length, t.states[value as keyof typeof t.states])}
            </Status>
          ))}
        </span>
      </summary>
      <div class="facts" aria-busy={isBusy}>
        {GROUPS.map(([title, names]) => {
          const present = names.filter((name) => bundle.facts[name])
          if (present.length === 0) return null
          return (
            <section key={title} class="fact-group" aria-label={title}>
              <h3>{title}</h3>
              {present.map((name) => (
                <FactRow key={name} name={name} bundle={bundle} />
              ))}
              {names === LOG_FACTS && logUrl && <a href={logUrl}>{t.fact.inLog}</a>}
            </section>
          )
        })}
      </div>
    </details>
  )
}

/** Grey for every unchecked fact, for any reason (T-38). */
const TONES: Record<string, Tone> = { passed: 'good', failed: 'bad', not_checked: 'neutral', unavailable: 'neutral' }
const SIGNS = { passed: 'check', failed: 'cross', not_checked: 'minus', unavailable: 'minus' } as const

function FactRow({ name, bundle }: { name: string; bundle: CheckedBundle }) {
  const fact = bundle.facts[name]
  const element = useRef<HTMLDetailsElement>(null)
  useEffect(() => openWhenNamed(name, element.current), [name])
  if (!fact) return null
  const { value } = fact
  const text = t.facts[name]
  const values = valuesOf(name, bundle)
  return (
    <details ref={element} id={name} class={`fact fact-${value}`}>
      <summary>
        <span class="fact-sign">
          <Icon name={SIGNS[value]} />
        </span>
        <span class="fact-title">
          <span class="fact-name">{text?.name}</span>
          <span class="fact-means">{fact.why ?? text?.means}</span>
        </span>
        <Status tone={TONES[value] ?? 'neutral'}>{t.states[value]}</Status>
      </summary>
      <dl class="fact-more">
        {fact.why !== undefined && (
          <>
            <dt>{t.fact.means}</dt>
            <dd>{text?.means}</dd>
            <dt>{t.fact.why}</dt>
            <dd>{fact.why}</dd>
          </>
        )}
        {values.length > 0 && (
          <>
            <dt>{t.fact.value}</dt>
            {values.map(([label, shown]) => (
              <dd key={label}>
                {label}: <code>{shown}</code>
              </dd>
            ))}
          </>
        )}
        <dt>{t.fact.how}</dt>
        <dd>{text?.how}</dd>
        <dt>{t.fact.limits}</dt>
        <dd>{text?.limits}</dd>
        <dt>{t.fact.code}</dt>
        <dd>
          <code>{name}</code>
        </dd>
      </dl>
    </details>
  )
}

/** Opens a fact that a link of the verdict names. */
function openWhenNamed(name: string, element: HTMLDetailsElement | null): (() => void) | undefined {
  if (!element) return
  const onHash = () => {
    if (location.hash !== `#${name}`) return
    const fold = element.parentElement?.closest('details')
    if (fold) fold.open = true
    element.open = true
    element.scrollIntoView()
  }
  addEventListener('hashchange', onHash)
  return () => removeEventListener('hashchange', onHash)
}

/** The values of a fact. Parts of the anchor are claims of the bundle, which the fact has compared. */
function valuesOf(
  name: string,
  { counted, envelope, key, anchor, log }: CheckedBundle,
): [label: string, value: string][] {
  const s = t.summary
  const rows: Record<string, [string, unknown][]> = {
    merkle_root_matches: [
      [s.root, counted.merkleRoot],
      [s.files, counted.files],
    ],
    statement_digest_matches: [[s.digest, envelope?.statement_digest]],
    envelope_binds_commitment: [[s.root, envelope?.body.merkle_root]],
    inclusion_proven: [[s.root, envelope?.body.merkle_root]],
    signature_valid: [[s.key, key?.public_key_hex]],
    key_pinned: [[s.key, key?.public_key_hex]],
    anchor_tx_succeeded: [
      [s.transaction, anchor?.tx],
      [s.chain, anchor?.chain],
    ],
    anchor_payload_matches: [[s.digest, envelope?.statement_digest]],
    anchor_signer_matches: [[s.signer, anchor?.signer]],
    anchor_slot_matches: [[s.slot, anchor?.slot]],
    registry_matches: [[s.record, (anchor?.sas as { attestation?: unknown } | undefined)?.attestation]],
    log_included: [
      [s.log, log?.origin],
      [s.entry, log && s.entryText(log.index, log.size)],
    ],
    log_cosigned: (log?.cosigned ?? []).map(({ name, time }) => [name, isoSeconds(time)]),
  }
  return (rows[name] ?? []).flatMap(([label, value]) => {
    const shown = shownValue(value)
    return shown === null ? [] : [[label, shown] as [string, string]]
  })
}
