// Single steps of drivers, which benchmarks measure by themselves.

export { signItem } from '../src/arweave/data-item.ts'
export { commitmentThread } from '../src/filecoin/commitment-thread.ts'
