// For tests: the tables of the queue, beside those of the gateway.

export { migrations as queueTables } from '../db/migrations.ts'
