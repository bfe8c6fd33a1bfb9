/** PostgreSQL sends bigint and numeric (count, sum) as text. SQLite's driver refuses the same values by itself. */
export function parseSafeNumber(text: string): number {
  const number = Number(text)
  if (Math.abs(number) <= Number.MAX_SAFE_INTEGER) return number
  throw new RangeError(`the database answered ${text}, which no JavaScript number holds exactly`)
}
