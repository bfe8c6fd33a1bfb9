import type { BudgetDayTable, Db, SpendingTable, Tx } from '../db/schema.ts'

/** Creates the row if there is none, and locks it until the end of the transaction. */
export function lockDay(tx: Tx, budget: string, day: number): Promise<BudgetDayTable> {
  return tx
    .insertInto('budget_days')
    .values({ budget, day, amount: 0, transactions: 0, exhausted_limit: null })
    .onConflict((conflict) =>
      conflict.columns(['budget', 'day']).doUpdateSet((eb) => ({ amount: eb.ref('budget_days.amount') })),
    )
    .returningAll()
    .executeTakeFirstOrThrow()
}

export async function findDay(db: Db, budget: string, day: number): Promise<BudgetDayTable | null> {
  const row = db.selectFrom('budget_days').selectAll().where('budget', '=', budget).where('day', '=', day)
  return (await row.executeTakeFirst()) ?? null
}

export async function addToDay(
  tx: Tx,
  { budget, day }: Pick<BudgetDayTable, 'budget' | 'day'>,
  { amount, transactions }: Pick<BudgetDayTable, 'amount' | 'transactions'>,
): Promise<void> {
  await tx
    .updateTable('budget_days')
    .set((eb) => ({ amount: eb('amount', '+', amount), transactions: eb('transactions', '+', transactions) }))
    .where('budget', '=', budget)
    .where('day', '=', day)
    .execute()
}

export async function setExhausted(
  tx: Tx,
  { budget, day }: Pick<BudgetDayTable, 'budget' | 'day'>,
  exhausted_limit: number | null,
): Promise<void> {
  await tx
    .updateTable('budget_days')
    .set({ exhausted_limit })
    .where('budget', '=', budget)
    .where('day', '=', day)
    .execute()
}

/** When the n-th newest transaction of the account was recorded, if that was after `since`. */
export async function nthNewest(db: Db, who: string, n: number, since: number): Promise<number | null> {
  const row = await db
    .selectFrom('spending')
    .select('noted_at')
    .where('who', '=', who)
    .where('noted_at', '>', since)
    .orderBy('noted_at', 'desc')
    .limit(1)
    .offset(n - 1)
    .executeTakeFirst()
  return row?.noted_at ?? null
}

/** How much of a budget the account's transactions have used. */
export async function spentSince(db: Db, who: string, budget: string, since: number): Promise<number> {
  const row = await db
    .selectFrom('spending')
    .select(({ fn }) => fn.sum<number | null>('amount').as('spent'))
    .where('who', '=', who)
    .where('budget', '=', budget)
    .where('noted_at', '>=', since)
    .executeTakeFirst()
  return Number(row?.spent ?? 0)
}

export async function insertSpending(tx: Tx, rows: readonly SpendingTable[]): Promise<void> {
  await tx
    .insertInto('spending')
    .values(rows)
    .onConflict((conflict) => conflict.columns(['tx', 'who']).doNothing())
    .execute()
}

/** Deletes the records of a transaction, of one budget or, for null, of all. Returns them, one for each account. */
export function deleteSpending(tx: Tx, transaction: string, budget: string | null): Promise<SpendingTable[]> {
  return tx
    .deleteFrom('spending')
    .where('tx', '=', transaction)
    .$if(budget !== null, (query) => query.where('budget', '=', budget))
    .returningAll()
    .execute()
}

export async function deleteOld(tx: Tx, before: { noted_at: number; day: number }): Promise<void> {
  await tx.deleteFrom('spending').where('noted_at', '<', before.noted_at).execute()
  await tx.deleteFrom('budget_days').where('day', '<', before.day).execute()
}
