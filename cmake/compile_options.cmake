# fansite_options(target): language level, warnings and sanitizers, the same for every target of ours.
function(fansite_options target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  # No contraction to FMA: simulated data must have the same bits on every machine. Kernels ask for FMA by name (Highway).
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wconversion -ffp-contract=off)
  if(FANSITE_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(FANSITE_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${FANSITE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
    target_link_options(${target} PUBLIC -fsanitize=${FANSITE_SANITIZE})
  endif()
endfunction()
