// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// Many reads in one call, as viem and x402 make them; the part of Multicall3 they use, at its usual address.
contract Multicall3 {
    struct Call {
        address target;
        bytes callData;
    }

    struct Call3 {
        address target;
        bool allowFailure;
        bytes callData;
    }

    struct Result {
        bool success;
        bytes returnData;
    }

    function aggregate3(Call3[] calldata calls) external payable returns (Result[] memory results) {
        results = new Result[](calls.length);
        for (uint256 i = 0; i < calls.length; i++) {
            results[i] = _call(calls[i].target, calls[i].callData, !calls[i].allowFailure);
        }
    }

    function tryAggregate(bool requireSuccess, Call[] calldata calls)
        external
        payable
        returns (Result[] memory results)
    {
        results = new Result[](calls.length);
        for (uint256 i = 0; i < calls.length; i++) {
            results[i] = _call(calls[i].target, calls[i].callData, requireSuccess);
        }
    }

    function getEthBalance(address owner) external view returns (uint256) {
        return owner.balance;
    }

    function _call(address target, bytes calldata data, bool mustSucceed) private returns (Result memory result) {
        (result.success, result.returnData) = target.call(data);
        require(result.success || !mustSucceed, "Multicall3: call failed");
    }
}
