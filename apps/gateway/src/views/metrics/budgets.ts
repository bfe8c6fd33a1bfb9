import type { BudgetState, UnpublishedCounts } from '../budget-states.ts'
import { byLabel, type Family, type Sample } from './text.ts'

export function budgetFamilies(budgets: readonly BudgetState[], { deferred, failed }: UnpublishedCounts): Family[] {
  const each = (value: (budget: BudgetState) => number): Sample[] =>
    budgets.map((budget) => ({ labels: { budget: budget.name, unit: budget.unit }, value: value(budget) }))
  return [
    {
      name: 'svc_budget_per_day',
      type: 'gauge',
      help: 'Daily limit of the budget; 0 means no limit.',
      samples: each(({ perDay }) => perDay),
    },
    {
      name: 'svc_budget_used',
      type: 'gauge',
      help: 'The most that the transactions of today can cost.',
      samples: each(({ used }) => used),
    },
    {
      name: 'svc_budget_transactions',
      type: 'gauge',
      help: 'Number of transactions today.',
      samples: each(({ transactions }) => transactions),
    },
    {
      name: 'svc_budget_exhausted',
      type: 'gauge',
      help: 'Whether payments wait for the next day because the budget is used up.',
      samples: each(({ isExhausted }) => Number(isExhausted)),
    },
    {
      name: 'svc_deferred_publications',
      type: 'gauge',
      help: 'Receipts whose newest statement waits for a budget.',
      samples: byLabel('kind', deferred),
    },
    {
      name: 'svc_failed_publications',
      type: 'gauge',
      help: 'Receipts whose newest statement could not be published and is retried.',
      samples: [{ value: failed }],
    },
  ]
}
