// The price calculator. Every figure comes from `GET /v1/price`, which stores nothing.

import { useSignal } from '@preact/signals'
import type { Price, Terms } from '@svc/api/purchases'
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { common } from '#texts/common'
import { texts as t } from '#texts/price'
import { resource } from '../gateway.ts'
import { Card } from '../ui/card.tsx'
import { Field } from '../ui/field.tsx'
import { networkTitle, providerTitle, shortAmount } from '../ui/names.ts'
import { ErrorState, Loading } from '../ui/states.tsx'
import { Table } from '../ui/table.tsx'
import { Term } from '../ui/term.tsx'
import './price.css'

export const MAX_UNITS = 1_000_000
/** The steps of the slider; any number can be typed. */
const STEPS = [1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000]
/** The delay after the last change. */
const ASK_AFTER_MS = 250

const price = resource<Price>('/v1/price')

/** The visitor's choice. */
interface Choice {
  units: number
  /** Empty for the default provider of the gateway. */
  provider: string
}

interface CalculatorProps {
  title?: string
  initial?: Choice
  /** The action below the calculator. */
  action: (choice: Choice) => ComponentChildren
}

export function PriceCalculator({ title = t.title, initial, action }: CalculatorProps) {
  const units = useSignal(initial?.units ?? 1)
  const provider = useSignal(initial?.provider ?? '')
  const ask = () => {
    const chosen = provider.value && `&provider=${encodeURIComponent(provider.value)}`
    return price.load(`/v1/price?units=${units.value}${chosen}`)
  }
  useEffect(() => {
    const timer = setTimeout(() => void ask(), price.now.value.state === 'ready' ? ASK_AFTER_MS : 0)
    return () => clearTimeout(timer)
  }, [units.value, provider.value])
  const { value } = price.now
  const setUnits = (text: string) => {
    const number = Math.trunc(Number(text))
    if (number >= 1 && number <= MAX_UNITS) units.value = number
  }
  return (
    <Card title={title}>
      <div class="price">
        <form class="stack" onSubmit={(event) => event.preventDefault()}>
          <Field label={t.units} hint={t.unitsHint}>
            {(control) => (
              <div class="units">
                <input
                  {...control}
                  type="number"
                  min={1}
                  max={MAX_UNITS}
                  value={units.value}
                  onInput={(event) => setUnits(event.currentTarget.value)}
                />
                <input
                  type="range"
                  aria-label={t.units}
                  aria-valuetext={common.number(units.value)}
                  min={0}
                  max={STEPS.length - 1}
                  value={STEPS.findLastIndex((step) => step <= units.value)}
                  onInput={(event) => setUnits(String(STEPS[Number(event.currentTarget.value)]))}
                />
              </div>
            )}
          </Field>
          <Field label={t.provider}>
            {(control) => (
              <select
                {...control}
                onChange={(event) => {
                  provider.value = event.currentTarget.value
                }}
              >
                {providersOf(value).map((name) => (
                  <option key={name} value={name} selected={name === chosenProvider(value, provider.value)}>
                    {providerTitle(name)}
                  </option>
                ))}
              </select>
            )}
          </Field>
        </form>
        {value.state === 'loading' && <Loading label={common.states.loading} />}
        {value.state === 'failed' && (
          <ErrorState title={t.failed} text={value.error.message} retry={() => void ask()} />
        )}
        {value.state === 'ready' && (
          <div class="offer" aria-live="polite">
            <Offer price={value.value} />
            <div class="row">{action({ units: units.value, provider: provider.value })}</div>
          </div>
        )}
      </div>
    </Card>
  )
}

type State = typeof price.now.value

function providersOf(value: State): string[] {
  return value.state === 'ready' ? Object.keys(value.value.providers) : []
}

function chosenProvider(value: State, chosen: string): string {
  return chosen || (value.state === 'ready' ? value.value.provider : '')
}

function Offer({ price: { units, provider, total_usd, amounts, providers } }: { price: Price }) {
  const terms = providers[provider]?.terms
  return (
    <>
      {terms && <TermsList terms={timesUnits(terms, units)} />}
      <p class="total">
        <span>{t.total}</span> <b>{common.dollars(total_usd)}</b> <span>{t.once}</span>
      </p>
      {terms?.storage === 'gateway' && <p class="field-hint">{t.gatewayDisk}</p>}
      <details>
        <summary>{t.assets([...new Set(amounts.map(({ pay_asset }) => pay_asset))])}</summary>
        <Table
          caption={t.caption}
          head={[t.asset, t.network, t.amount]}
          numeric={[2]}
          rows={amounts.map(({ pay_asset, pay_network, human_amount }) => [
            <b key="asset">{pay_asset}</b>,
            networkTitle(pay_network),
            shortAmount(human_amount),
          ])}
        />
      </details>
    </>
  )
}

type Limits = Pick<Terms, 'storage_limit_bytes' | 'file_limit' | 'egress_included_bytes' | 'ttl_days'>

/** Multiplies the terms of one unit, which the price contains. */
function timesUnits(terms: Limits, units: number): Limits {
  return {
    storage_limit_bytes: terms.storage_limit_bytes * units,
    file_limit: terms.file_limit * units,
    egress_included_bytes: terms.egress_included_bytes * units,
    ttl_days: terms.ttl_days,
  }
}

export function TermsList({ terms }: { terms: Limits }) {
  return (
    <dl class="terms">
      <Term name={t.storage}>{common.bytes(terms.storage_limit_bytes)}</Term>
      <Term name={t.files}>{common.number(terms.file_limit)}</Term>
      <Term name={t.egress}>{common.bytes(terms.egress_included_bytes)}</Term>
      <Term name={t.time}>{t.days(terms.ttl_days)}</Term>
    </dl>
  )
}
