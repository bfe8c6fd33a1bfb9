// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import "./Erc20.sol";

/// A token whose decimals and ticker follow its code, 32 bytes each, so that one contract serves any token.
contract Token is Erc20 {
    function name() public pure override returns (string memory) {
        return _ticker();
    }

    function symbol() external pure override returns (string memory) {
        return _ticker();
    }

    function decimals() external pure override returns (uint8) {
        return uint8(uint256(_fact(64)));
    }

    function _ticker() private pure returns (string memory) {
        bytes32 text = _fact(32);
        uint256 length = 0;
        while (length < 32 && text[length] != 0) length++;
        bytes memory ticker = new bytes(length);
        for (uint256 i = 0; i < length; i++) ticker[i] = text[i];
        return string(ticker);
    }

    /// The 32 bytes that begin `fromEnd` bytes before the end of the code.
    function _fact(uint256 fromEnd) private pure returns (bytes32 fact) {
        assembly {
            codecopy(0, sub(codesize(), fromEnd), 32)
            fact := mload(0)
        }
    }
}
