// The time range picker.

import { useSignal } from '@preact/signals'
import { texts } from '#texts/admin'
import { Button } from '../../ui/button.tsx'
import { param, setParams } from './location.ts'
import { boundsOf, isRange, SPANS } from './time-range.ts'
import './range.css'

const t = texts.range
const USUAL = '30d'

export function chosenRange(): string {
  const chosen = param('range')
  return isRange(chosen) ? chosen : USUAL
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
            title={t.long[range as keyof typeof t.long]}
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
        problem.value = isRange(days) ? '' : t.wrong
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
