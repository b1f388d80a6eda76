// What the programs share. Their output is the same on every machine: recorded on a GPU, and compared with that elsewhere.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

// Prints a call and what it answers.
#define SAY(call)                                                        \
    do {                                                                 \
        cudaError_t answer = (call);                                     \
        printf("%s = %d %s\n", #call, (int)answer, cudaGetErrorName(answer)); \
    } while (0)

// Ends the program if a call fails.
#define MUST(call)                                                                        \
    do {                                                                                  \
        cudaError_t answer = (call);                                                      \
        if (answer != cudaSuccess) {                                                      \
            printf("line %d: %s = %d %s\n", __LINE__, #call, (int)answer, cudaGetErrorString(answer)); \
            exit(1);                                                                      \
        }                                                                                 \
    } while (0)

template <class T>
unsigned long long digest(const T* values, size_t count) {
    unsigned long long hash = 1469598103934665603ull;
    const unsigned char* bytes = (const unsigned char*)values;
    for (size_t i = 0; i < count * sizeof(T); i++) hash = (hash ^ bytes[i]) * 1099511628211ull;
    return hash;
}
