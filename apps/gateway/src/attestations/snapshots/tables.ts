import type { Selectable } from 'kysely'
import type { SnapshotChunkTable, SnapshotTable } from '../../db/schema.ts'

export type SnapshotRow = Selectable<SnapshotTable>
export type ChunkRow = Selectable<SnapshotChunkTable>
