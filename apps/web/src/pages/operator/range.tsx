// Of which time a chart is. Days begin at midnight UTC.

import { useSignal } from '@preact/signals'
import { texts } from '#texts/operator'
import { Button } from '../../ui/button.tsx'
import { param, setParams } from './place.ts'

const t = texts.range

const HOUR = 3_600
const DAY = 24 * HOUR
const SPANS: Readonly<Record<string, number>> = { '24h': DAY, '7d': 7 * DAY, '30d': 30 * DAY, '1y': 365 * DAY }
const CUSTOM = /^(\d{4}-\d\d-\d\d)\.\.(\d{4}-\d\d-\d\d)$/
/** As the gateway has it. */
const MAX_SECONDS = 20 * 365 * DAY
const USUAL = '30d'

/** As in the address: `7d`, or `2026-01-01..2026-01-31`. */
export function chosenRange(): string {
  const chosen = param('range')
  return chosen in SPANS || daysOf(chosen) ? chosen : USUAL
}

function daysOf(range: string): { from: number; to: number } | null {
  const [, first = '', last = ''] = CUSTOM.exec(range) ?? []
  const from = Date.parse(`${first}T00:00:00Z`) / 1000
  const to = Date.parse(`${last}T00:00:00Z`) / 1000 + DAY
  return from < to && to - from <= MAX_SECONDS ? { from, to } : null
}

/** Unix seconds: up to, not with, `to`. */
export function boundsOf(range: string, nowSeconds: number): { from: number; to: number } {
  return daysOf(range) ?? { from: nowSeconds - (SPANS[range] ?? 0), to: nowSeconds }
}

/** Unix seconds as the gateway takes them. */
export function isoOf(seconds: number): string {
  return `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`
}

export function RangePicker() {
  const chosen = chosenRange()
  const isCustom = !(chosen in SPANS)
  const isOpen = useSignal(isCustom)
  const choose = (range: string) => {
    isOpen.value = false
    setParams({ range })
  }
  return (
    <div class="range">
      <fieldset class="range-choice">
        <legend class="quiet-text">{t.label}</legend>
        {Object.keys(SPANS).map((range) => (
          <button
            key={range}
            type="button"
            aria-pressed={!isOpen.value && chosen === range}
            aria-label={t.long[range as keyof typeof t.long]}
            onClick={() => choose(range)}
          >
            {t.short[range as keyof typeof t.short]}
          </button>
        ))}
        <button
          type="button"
          aria-pressed={isOpen.value}
          aria-expanded={isOpen.value}
          onClick={() => {
            isOpen.value = true
          }}
        >
          {t.custom}
        </button>
      </fieldset>
      {isOpen.value && <Days range={chosen} />}
    </div>
  )
}

function Days({ range }: { range: string }) {
  const { from, to } = boundsOf(range, Date.now() / 1000)
  const first = useSignal(dayText(from))
  const last = useSignal(dayText(to - 1))
  const problem = useSignal('')
  return (
    <form
      class="row range-days"
      onSubmit={(event) => {
        event.preventDefault()
        const days = `${first.value}..${last.value}`
        problem.value = daysOf(days) ? '' : t.wrong
        if (!problem.value) setParams({ range: days })
      }}
    >
      <Day label={t.from} value={first.value} onDay={(day) => (first.value = day)} />
      <Day label={t.to} value={last.value} onDay={(day) => (last.value = day)} />
      <Button type="submit">{t.show}</Button>
      <span class="field-error" role="status">
        {problem.value}
      </span>
    </form>
  )
}

function Day({ label, value, onDay }: { label: string; value: string; onDay: (day: string) => void }) {
  return (
    <label class="range-day">
      <span>{label}</span>
      <input class="input" type="date" value={value} onInput={(event) => onDay(event.currentTarget.value)} />
    </label>
  )
}

function dayText(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(0, 10)
}
